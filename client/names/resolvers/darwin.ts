import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { namesIn, textIn } from '../../if-readable.ts';
import type { HostResolver } from './resolver.ts';

const DIRECTORY = '/etc/resolver';

/** A file for each domain (resolver(5)), which macOS reads by itself. It does not complete short names by these. */
export function darwinResolver(directory = DIRECTORY): HostResolver {
  const mark = (interfaceName: string) => `# mesh ${interfaceName}\n`;
  return {
    name: '/etc/resolver',
    isHere: async () => true,
    async set({ interfaceName, address, domain, reverse }) {
      mkdirSync(directory, { recursive: true });
      for (const zone of [domain, ...reverse]) {
        writeFileSync(path.join(directory, zone), `${mark(interfaceName)}nameserver ${address}\ntimeout 2\n`);
      }
    },
    async unset(interfaceName) {
      for (const file of filesIn(directory)) {
        if (textIn(file).startsWith(mark(interfaceName))) rmSync(file, { force: true });
      }
    },
  };
}

function filesIn(directory: string): string[] {
  return namesIn(directory).map((name) => path.join(directory, name));
}
