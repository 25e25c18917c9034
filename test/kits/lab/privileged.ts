import { existsSync } from 'node:fs';
import { describe } from 'vitest';
import { isInstalled } from '../process/needs.ts';

const PROGRAMS = ['ip', 'nft', 'wireguard-go', 'wg', 'ping'];
const canRun = process.getuid?.() === 0 && existsSync('/dev/net/tun') && PROGRAMS.every(isInstalled);

/** Tests with real interfaces, packets and firewalls in namespaces of their own; skipped where there can be none. */
export function describePrivileged(title: string, body: () => void): void {
  describe.skipIf(!canRun)(title, body);
}
