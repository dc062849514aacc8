"""VolumeZone: pods go where the labels of their volumes say."""
