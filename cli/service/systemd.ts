import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runProgram } from '../../client/run-program.ts';
import type { ServiceManager, ServiceState } from './service.ts';
import { isUnitOf as isOf, systemdUnit, unitName } from './systemd-unit.ts';

const DIRECTORY = '/etc/systemd/system';

/** systemd, by systemctl. */
export function systemd(run = runProgram, directory = DIRECTORY): ServiceManager {
  const fileOf = (interfaceName: string) => path.join(directory, unitName(interfaceName));
  const must = async (...args: readonly string[]) => {
    const { code, stderr } = await run('systemctl', args, { timeoutMs: 60_000 });
    if (code !== 0) throw new Error(`systemctl ${args.join(' ')} failed: ${stderr.trim()}`);
  };
  return {
    logHint: (interfaceName) => `journalctl -u ${unitName(interfaceName)}`,
    render: systemdUnit,
    async install(service) {
      const name = unitName(service.interfaceName);
      writeFileSync(fileOf(service.interfaceName), systemdUnit(service), { mode: 0o644 });
      await must('daemon-reload');
      await must('enable', name);
      await must('restart', name);
    },
    async uninstall(interfaceName, of) {
      const file = fileOf(interfaceName);
      if (!existsSync(file) || (of !== undefined && !isOf(readFileSync(file, 'utf8'), of))) return false;
      await must('disable', '--now', unitName(interfaceName));
      rmSync(file, { force: true });
      await must('daemon-reload');
      return true;
    },
    async status(interfaceName) {
      const [name, file] = [unitName(interfaceName), fileOf(interfaceName)];
      if (!existsSync(file)) return { name, file, state: 'not installed', atBoot: false, pid: null, detail: '' };
      const asked = ['ActiveState', 'SubState', 'UnitFileState', 'MainPID', 'NRestarts', 'Result', 'ExecMainStatus'];
      const { code, stdout, stderr } = await run('systemctl', ['show', name, `--property=${asked}`]);
      if (code !== 0) throw new Error(`systemctl show ${name} failed: ${stderr.trim()}`);
      const said = Object.fromEntries(stdout.split('\n').map((line) => line.split('=', 2)));
      const pid = Number(said['MainPID']);
      return {
        name,
        file,
        state: stateOf(said['ActiveState']),
        atBoot: said['UnitFileState'] === 'enabled',
        pid: pid > 0 ? pid : null,
        detail: `${said['ActiveState']} (${said['SubState']}), result ${said['Result']}, last exit ${said['ExecMainStatus']}, restarts ${said['NRestarts']}`,
      };
    },
  };
}

function stateOf(active = ''): ServiceState {
  if (active === 'active' || active === 'reloading') return 'running';
  // Between two tries it is no running node.
  return active === 'failed' || active === 'activating' ? 'failed' : 'stopped';
}
