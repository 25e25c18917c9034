import { existsSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import path from 'node:path';
import { type RunProgram, runProgram } from '../../client/run-program.ts';
import type { ServiceManager } from './service.ts';
import { systemdBy } from './systemd.ts';
import { unitName, userUnit } from './systemd-unit.ts';

/** As logind makes it; `su` does not set the variable. */
const runtimeDirectory = () => process.env['XDG_RUNTIME_DIR'] ?? `/run/user/${process.getuid?.()}`;

/** The systemd of this user. */
export function userSystemd(run: RunProgram = runProgram, directory = userUnits()): ServiceManager {
  const asUser: RunProgram = (file, args, options) =>
    run('env', [`XDG_RUNTIME_DIR=${runtimeDirectory()}`, file, '--user', ...args], options);
  return systemdBy({
    run: asUser,
    directory,
    render: userUnit,
    startsWithMachine: () => existsSync(`/var/lib/systemd/linger/${userInfo().username}`),
    journal: (interfaceName) => ['--user', '-u', unitName(interfaceName)],
  });
}

/** True where a systemd of this user runs: from the first login, or from the start of the machine where the user lingers. */
export function hasUserSystemd(): boolean {
  return existsSync(path.join(runtimeDirectory(), 'systemd/private'));
}

function userUnits(): string {
  return path.join(process.env['XDG_CONFIG_HOME'] ?? path.join(homedir(), '.config'), 'systemd/user');
}
