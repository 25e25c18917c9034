import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { namesIn, textIn } from '../../client/if-readable.ts';
import { runProgram } from '../../client/run-program.ts';
import type { NodeService, ServiceManager } from './service.ts';

const DIRECTORY = '/Library/LaunchDaemons';

/** launchd of macOS: started with the machine, and again whenever it fails. */
export function launchd(run = runProgram, directory = DIRECTORY): ServiceManager {
  const fileOf = (interfaceName: string) => path.join(directory, `${labelOf(interfaceName)}.plist`);
  const target = (interfaceName: string) => `system/${labelOf(interfaceName)}`;
  const must = async (...args: readonly string[]) => {
    const { code, stderr } = await run('launchctl', args, { timeoutMs: 60_000 });
    if (code !== 0) throw new Error(`launchctl ${args.join(' ')} failed: ${stderr.trim()}`);
  };
  return {
    logHint: (interfaceName) => `less ${logOf(interfaceName)}`,
    logFile: logOf,
    render: launchdPlist,
    find: (of) =>
      namesIn(directory)
        .filter((name) => isPlist(name) && textIn(path.join(directory, name)).includes(textOf(of)))
        .map((name) => name.slice(labelOf('').length, -'.plist'.length))[0],
    async install(service) {
      const file = fileOf(service.interfaceName);
      const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
      const put = async (plist: string) => {
        await run('launchctl', ['bootout', target(service.interfaceName)]);
        writeFileSync(file, plist, { mode: 0o644 });
        await must('bootstrap', 'system', file);
        await must('enable', target(service.interfaceName));
      };
      const putBack = before === undefined ? undefined : () => put(before);
      try {
        await put(launchdPlist(service));
      } catch (error) {
        await putBack?.().catch(() => {});
        throw error;
      }
      return putBack;
    },
    async start(interfaceName) {
      // Refused where it is loaded already.
      await run('launchctl', ['bootstrap', 'system', fileOf(interfaceName)]);
      await must('kickstart', target(interfaceName));
    },
    async uninstall(interfaceName, of) {
      const file = fileOf(interfaceName);
      const isOther = of !== undefined && existsSync(file) && !readFileSync(file, 'utf8').includes(textOf(of));
      if (!existsSync(file) || isOther) return false;
      await run('launchctl', ['bootout', target(interfaceName)]);
      rmSync(file, { force: true });
      return true;
    },
    async status(interfaceName) {
      const [name, file] = [labelOf(interfaceName), fileOf(interfaceName)];
      if (!existsSync(file)) return { name, file, state: 'not installed', atBoot: false, pid: null, detail: '' };
      const { code, stdout } = await run('launchctl', ['print', target(interfaceName)]);
      const [, pid] = /\n\tpid = (\d{1,10})\n/.exec(stdout) ?? [];
      const [, exit = 'never'] = /last exit code = ([\w() ]{1,40})/.exec(stdout) ?? [];
      const isRunning = code === 0 && pid !== undefined;
      return {
        name,
        file,
        state: isRunning ? 'running' : 'stopped',
        atBoot: code === 0,
        pid: isRunning ? Number(pid) : null,
        detail: code === 0 ? `last exit ${exit}` : 'not loaded',
      };
    },
  };
}

export function launchdPlist({ launcher, directory, interfaceName, options }: NodeService): string {
  const up = [launcher, 'up', '--config-dir', directory, '--interface', interfaceName, ...options];
  const log = logOf(interfaceName);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${labelOf(interfaceName)}</string>
  <key>ProgramArguments</key>
  <array>
${up.map((word) => `    ${textOf(word)}\n`).join('')}  </array>
  <key>EnvironmentVariables</key>
  <dict><key>PATH</key><string>/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin</string></dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>5</integer>
  <key>ExitTimeOut</key><integer>15</integer>
  <key>Umask</key><integer>63</integer>
  <key>StandardOutPath</key><string>${log}</string>
  <key>StandardErrorPath</key><string>${log}</string>
</dict>
</plist>
`;
}

function labelOf(interfaceName: string): string {
  return `internal.mesh.${interfaceName}`;
}

function isPlist(name: string): boolean {
  return name.startsWith(labelOf('')) && name.endsWith('.plist');
}

function logOf(interfaceName: string): string {
  return `/var/log/mesh-${interfaceName}.log`;
}

function textOf(word: string): string {
  return `<string>${escaped(word)}</string>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
