import { existsSync } from 'node:fs';
import { access, constants, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from '../run-program.ts';
import { type HostFacts, PROGRAMS } from './obstacles.ts';

/** Looks at this host; changes nothing that stays. */
export async function hostFacts(): Promise<HostFacts> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  const installed = await Promise.all(PROGRAMS.map(isInstalled));
  return {
    userId: process.geteuid?.() ?? -1,
    effectiveCapabilities: /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '',
    isContainer: await isContainer(),
    hasKernelWireGuard: await hasKernelWireGuard(),
    hasTunDevice: await canOpen('/dev/net/tun'),
    programs: new Set(PROGRAMS.filter((_, index) => installed[index])),
  };
}

/** Only making one tells: the module may be built in, loaded on demand, or belong to a host whose modules are not seen. */
async function hasKernelWireGuard(): Promise<boolean> {
  const probe = `meshp${process.pid}`;
  const { code } = await runProgram('ip', ['link', 'add', 'dev', probe, 'type', 'wireguard']);
  if (code === 0) await runProgram('ip', ['link', 'delete', 'dev', probe]);
  return code === 0;
}

async function isContainer(): Promise<boolean> {
  if (existsSync('/.dockerenv') || existsSync('/run/.containerenv')) return true;
  const groups = await readFile('/proc/1/cgroup', 'utf8').catch(() => '');
  return /docker|kubepods|containerd|libpod|lxc/.test(groups);
}

async function canOpen(file: string): Promise<boolean> {
  try {
    await (await open(file, 'r+')).close();
    return true;
  } catch {
    return false;
  }
}

async function isInstalled(program: string): Promise<boolean> {
  const directories = (process.env['PATH'] ?? '').split(path.delimiter).filter((directory) => directory !== '');
  for (const directory of directories) {
    const found = await access(path.join(directory, program), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return true;
  }
  return false;
}
