import type { runProgram } from '../../../run-program.ts';
import { refused } from '../failure.ts';
import { commentOf, mustOf, type Tool } from './tool.ts';

/** A rule of ufw, found again by its comment. */
export function ufw(interfaceName: string, run: typeof runProgram): Tool {
  const must = mustOf(run);
  const rule = ['allow', 'in', 'on', interfaceName] as const;
  /** The rule as ufw shows it; undefined where there is none. */
  const added = async () => {
    const { stdout } = await must('ufw', ['show', 'added']);
    const lines = stdout.split('\n').map((line) => line.trim());
    return lines.find((line) => line === `ufw ${rule.join(' ')}` || line.startsWith(`ufw ${rule.join(' ')} comment `));
  };
  return {
    async isActive() {
      const result = await run('ufw', ['status']);
      if (result.isMissing) return false;
      if (result.code !== 0) throw refused('ufw', ['status'], result);
      return /^Status: active/m.test(result.stdout);
    },
    missing: async () => ((await added()) === undefined ? ['rule'] : []),
    async open() {
      await must('ufw', [...rule, 'comment', commentOf(interfaceName)]);
    },
    async close() {
      // Of a host from which it was removed, its rules went with it.
      if ((await run('ufw', ['version'])).isMissing) return;
      if ((await added())?.endsWith(` comment '${commentOf(interfaceName)}'`))
        await must('ufw', ['--force', 'delete', ...rule]);
    },
  };
}
