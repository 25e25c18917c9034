/** What nodes of this host hold, a directory for each interface. It goes with a reboot. */
export const RUN_DIRECTORY = '/var/run/mesh';
