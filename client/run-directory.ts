/** State of the nodes of this host, a directory for each interface. It goes with a reboot. */
export const RUN_DIRECTORY = '/var/run/mesh';
