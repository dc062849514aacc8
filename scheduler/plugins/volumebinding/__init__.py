"""VolumeBinding: finds, reserves and binds the volumes of pods."""
