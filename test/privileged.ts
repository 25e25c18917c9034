import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe } from 'vitest';

const PROGRAMS = ['ip', 'nft', 'wireguard-go', 'wg', 'ping'];

/** What keeps tests with real interfaces from running here; empty where they run. */
function lacking(): string[] {
  const lack = PROGRAMS.filter((program) => !isInstalled(program)).map((program) => `the program ${program}`);
  if (process.getuid?.() !== 0) lack.push('root');
  if (!existsSync('/dev/net/tun')) lack.push('/dev/net/tun');
  return lack;
}

function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Tests with real interfaces, packets and firewalls in namespaces of their own. On a user's machine that lacks what they
 * need they are skipped and say why; on CI that is a failure.
 */
export function describePrivileged(title: string, body: () => void): void {
  const lack = lacking();
  if (lack.length === 0) describe(title, body);
  else if (process.env['CI'] === 'true') throw new Error(`"${title}" needs ${lack.join(', ')}.`);
  else {
    process.stderr.write(`skipped: "${title}" needs ${lack.join(', ')}\n`);
    describe.skip(title, body);
  }
}
