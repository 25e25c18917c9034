import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type HostResolver, must, type Run } from './resolver.ts';

/** Directory that NetworkManager's own dnsmasq reads. */
const DIRECTORY = '/etc/NetworkManager/dnsmasq.d';

/** NetworkManager where it resolves by a dnsmasq of its own (`dns=dnsmasq`): a file, and a request to read it. */
export function networkManager(run: Run, directory = DIRECTORY): HostResolver {
  const fileOf = (interfaceName: string) => path.join(directory, `mesh-${interfaceName}.conf`);
  const reload = ['general', 'reload', 'dns-full'];
  return {
    name: 'NetworkManager',
    async isHere() {
      const manager = 'org.freedesktop.NetworkManager';
      const mode = await run('busctl', [
        ...['get-property', '--auto-start=no', manager, '/org/freedesktop/NetworkManager/DnsManager'],
        ...[`${manager}.DnsManager`, 'Mode'],
      ]);
      return mode.code === 0 && mode.stdout.trim() === 's "dnsmasq"';
    },
    async set({ interfaceName, address, domain, reverse }) {
      const lines = [domain, ...reverse].map((zone) => `server=/${zone}/${address}\n`);
      writeFileSync(
        fileOf(interfaceName),
        `# Names of the overlay of ${interfaceName}; they go with its node.\n${lines.join('')}`,
      );
      await must(run, 'nmcli', reload);
    },
    async unset(interfaceName) {
      if (removed(fileOf(interfaceName))) await run('nmcli', reload);
    },
  };
}

function removed(file: string): boolean {
  try {
    rmSync(file);
    return true;
  } catch {
    return false;
  }
}
