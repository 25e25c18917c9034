/** Tells the parent process where this server is, and what processor time it has used so far whenever it is asked. */
export function reportTo(parent: NodeJS.Process, address: Readonly<Record<string, unknown>>): void {
  parent.on('message', () => {
    const { user, system } = process.cpuUsage();
    parent.send?.({ cpuMicroseconds: user + system });
  });
  parent.send?.(address);
}
