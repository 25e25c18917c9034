import { closeSync, ftruncateSync, openSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { replacePrivateFile } from '../../enrol/private-file.ts';
import { readRegular, textIn } from '../../if-readable.ts';
import type { HostResolver } from './resolver.ts';

const FILES = { servers: '/etc/resolv.conf', backups: '/var/lib/mesh-node' };

/**
 * The file that the libc reads, which cannot name a server for some names alone: this node stands first in it. It refuses all
 * other names at once, and the libc then asks the next server.
 *
 * @param isRequested false only takes away what an earlier agent wrote
 */
export function resolvConf(isRequested: boolean, { servers: file, backups } = FILES): HostResolver {
  const backupOf = (interfaceName: string) => path.join(backups, `resolv.conf-${interfaceName}`);
  return {
    name: file,
    isHere: async () => isRequested,
    async set({ interfaceName, address, domain }) {
      const written = readRegular(file);
      const before = withoutOwn(written, interfaceName);
      if (!/^nameserver[ \t]+(\S+)/m.test(before)) {
        throw new Error(`${file} names no server, so that other names would be asked of nobody: add one`);
      }
      if (hasOption(before, 'rotate')) {
        throw new Error(`${file} has "options rotate", by which other servers are asked for ${domain} too: remove it`);
      }
      replacePrivateFile(backupOf(interfaceName), before);
      const own = `${markOf(interfaceName)} names of ${domain}, until the node stops\nnameserver ${address}\n`;
      overwrite(file, own + before, written);
    },
    unasked: ({ interfaceName, address }) =>
      textIn(file).includes(`${markOf(interfaceName)} `)
        ? ''
        : `another program wrote ${file} since: start this node again, or put nameserver ${address} first in it`,
    async unset(interfaceName) {
      const written = textIn(file);
      const before = withoutOwn(written, interfaceName);
      try {
        if (before !== written) overwrite(file, before, written);
        rmSync(backupOf(interfaceName), { force: true });
      } catch {
        // The backup stays for whoever makes the file writable.
      }
    },
  };
}

function markOf(interfaceName: string): string {
  return `# mesh ${interfaceName}:`;
}

function hasOption(text: string, name: string): boolean {
  const words = text.split('\n').map((line) => line.split(/\s+/));
  return words.some(([keyword, ...options]) => keyword === 'options' && options.includes(name));
}

/** Other programs may have changed the file meanwhile: theirs stays. */
function withoutOwn(text: string, interfaceName: string): string {
  const isMark = (line: string | undefined) => line?.startsWith(`${markOf(interfaceName)} `) === true;
  const lines = text.split('\n');
  return lines
    .filter((line, at) => !isMark(line) && !(isMark(lines[at - 1]) && line.startsWith('nameserver ')))
    .join('\n');
}

/** In place: in a container it is a mount, and in a unit of systemd its directory is read-only. */
function overwrite(file: string, text: string, before: string): void {
  try {
    write(file, text);
  } catch (error) {
    // On a full disk what was there still fits.
    write(file, before);
    throw error;
  }
}

function write(file: string, text: string): void {
  const handle = openSync(file, 'r+');
  try {
    writeFileSync(handle, text);
    ftruncateSync(handle, Buffer.byteLength(text));
  } finally {
    closeSync(handle);
  }
}
