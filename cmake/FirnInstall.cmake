# Filled in once there is something to install.
