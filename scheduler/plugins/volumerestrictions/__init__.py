"""VolumeRestrictions: volumes that not every pod may share."""
