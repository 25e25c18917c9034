import { existsSync } from 'node:fs';
import { describe } from 'vitest';
import { isInstalled } from '../process/needs.ts';

const PROGRAMS = ['ip', 'nft', 'wireguard-go', 'wg', 'ping'];
/** Whether there can be real interfaces, packets and firewalls in namespaces. */
export const isPrivileged = process.getuid?.() === 0 && existsSync('/dev/net/tun') && PROGRAMS.every(isInstalled);

/** `npm run test:long`: with all that each run of the lab has no time for. */
export const isLong = process.env['MESH_LONG'] === '1';

/** Tests with real interfaces, packets and firewalls in namespaces of their own; skipped where there can be none. */
export function describePrivileged(title: string, body: () => void): void {
  describe.skipIf(!isPrivileged)(title, body);
}

/** As `describePrivileged`, but there in the long run alone: CI takes a skipped test for one that was forgotten. */
export function describeLong(title: string, body: () => void): void {
  if (isLong) describePrivileged(title, body);
}
