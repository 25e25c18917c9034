import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { namesIn, textIn } from '../../client/if-readable.ts';
import { type RunProgram, runProgram } from '../../client/run-program.ts';
import type { NodeService, ServiceManager, ServiceState, ServiceStatus } from './service.ts';
import { interfaceOfUnit, isUnitOf as isOf, systemdUnit, unitName } from './systemd-unit.ts';

const DIRECTORY = '/etc/systemd/system';

export interface SystemdOptions {
  readonly run: RunProgram;
  /** Directory of its units. */
  readonly directory: string;
  readonly render: (service: NodeService) => string;
  /** True where a unit that is enabled starts with the machine. */
  readonly startsWithMachine: () => boolean;
  readonly journal: (interfaceName: string) => readonly string[];
}

/** The systemd of the machine, by systemctl. */
export function systemd(run: RunProgram = runProgram, directory = DIRECTORY): ServiceManager {
  const journal = (interfaceName: string) => ['-u', unitName(interfaceName)];
  return systemdBy({ run, directory, render: systemdUnit, startsWithMachine: () => true, journal });
}

export function systemdBy({ run, directory, render, startsWithMachine, journal }: SystemdOptions): ServiceManager {
  const fileOf = (interfaceName: string) => path.join(directory, unitName(interfaceName));
  const must = async (...args: readonly string[]) => {
    const { code, stderr } = await run('systemctl', args, { timeoutMs: 60_000 });
    if (code !== 0) throw new Error(`systemctl ${args.join(' ')} failed: ${stderr.trim()}`);
  };
  return {
    logHint: (interfaceName) => `journalctl ${journal(interfaceName).join(' ')}`,
    journal,
    render,
    find: (of) =>
      namesIn(directory)
        .filter((name) => interfaceOfUnit(name) !== undefined && isOf(textIn(path.join(directory, name)), of))
        .map(interfaceOfUnit)[0],
    async install(service) {
      const { interfaceName } = service;
      const [name, file] = [unitName(interfaceName), fileOf(interfaceName)];
      const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
      const { state, isEnabled } = await look(interfaceName);
      const put = async (unit: string, isToRun: boolean, isToStart: boolean) => {
        mkdirSync(directory, { recursive: true });
        writeFileSync(file, unit, { mode: 0o644 });
        await must('daemon-reload');
        await must(isToStart ? 'enable' : 'disable', name);
        await must(isToRun ? 'restart' : 'stop', name);
      };
      const putBack = before === undefined ? undefined : () => put(before, state === 'running', isEnabled);
      try {
        await put(render(service), true, true);
      } catch (error) {
        await putBack?.().catch(() => {});
        throw error;
      }
      return putBack;
    },
    start: (interfaceName) => must('start', unitName(interfaceName)),
    async uninstall(interfaceName, of) {
      const file = fileOf(interfaceName);
      if (!existsSync(file) || (of !== undefined && !isOf(readFileSync(file, 'utf8'), of))) return false;
      await must('disable', '--now', unitName(interfaceName));
      rmSync(file, { force: true });
      await must('daemon-reload');
      // systemd remembers a failed unit without its file; one that did not fail is already unknown.
      await run('systemctl', ['reset-failed', unitName(interfaceName)]);
      return true;
    },
    status,
  };
  async function status(interfaceName: string): Promise<ServiceStatus> {
    const { isEnabled, ...status } = await look(interfaceName);
    return { ...status, atBoot: isEnabled && startsWithMachine() };
  }
  async function look(interfaceName: string): Promise<Omit<ServiceStatus, 'atBoot'> & { readonly isEnabled: boolean }> {
    const [name, file] = [unitName(interfaceName), fileOf(interfaceName)];
    if (!existsSync(file)) return { name, file, state: 'not installed', isEnabled: false, pid: null, detail: '' };
    const asked = ['ActiveState', 'SubState', 'UnitFileState', 'MainPID', 'NRestarts', 'Result', 'ExecMainStatus'];
    const { code, stdout, stderr } = await run('systemctl', ['show', name, `--property=${asked}`]);
    if (code !== 0) throw new Error(`systemctl show ${name} failed: ${stderr.trim()}`);
    const said = Object.fromEntries(stdout.split('\n').map((line) => line.split('=', 2)));
    const pid = Number(said['MainPID']);
    return {
      name,
      file,
      state: stateOf(said['ActiveState']),
      isEnabled: said['UnitFileState'] === 'enabled',
      pid: pid > 0 ? pid : null,
      detail: `${said['ActiveState']} (${said['SubState']}), result ${said['Result']}, last exit ${said['ExecMainStatus']}, restarts ${said['NRestarts']}`,
    };
  }
}

function stateOf(active = ''): ServiceState {
  if (active === 'active' || active === 'reloading') return 'running';
  // Between two tries it is no running node.
  return active === 'failed' || active === 'activating' ? 'failed' : 'stopped';
}
