import type { runProgram } from '../../../run-program.ts';
import { refused } from '../failure.ts';
import { mustOf, type Tool } from './tool.ts';

/** Of what firewalld holds now, and of what it loads at each start. */
const KEPT = { now: [], permanent: ['--permanent'] } as const;
type Kept = keyof typeof KEPT;
const EACH = Object.keys(KEPT) as Kept[];

/** The interface in firewalld's zone `trusted`. */
export function firewalld(interfaceName: string, run: typeof runProgram): Tool {
  const must = mustOf(run);
  const zone = (kept: Kept, verb: 'add' | 'remove' | 'query') =>
    [...KEPT[kept], '--zone=trusted', `--${verb}-interface=${interfaceName}`] as const;
  const isRunning = async () => (await run('firewall-cmd', ['--state'])).code === 0;
  const isThere = async (kept: Kept) => {
    const args = zone(kept, 'query');
    const result = await run('firewall-cmd', args);
    if (result.code !== 0 && result.stdout.trim() !== 'no') throw refused('firewall-cmd', args, result);
    return result.code === 0;
  };
  return {
    isActive: isRunning,
    async missing() {
      const missing = [];
      for (const kept of EACH) if (!(await isThere(kept))) missing.push(kept);
      return missing;
    },
    async open(changes) {
      for (const kept of EACH.filter((one) => changes.includes(one))) await must('firewall-cmd', zone(kept, 'add'));
    },
    async close(changes) {
      const made = EACH.filter((one) => changes.includes(one));
      if (await isRunning()) {
        for (const kept of made) if (await isThere(kept)) await must('firewall-cmd', zone(kept, 'remove'));
      } else if (made.includes('permanent') && !(await run('firewall-offline-cmd', ['--version'])).isMissing) {
        // It holds nothing now, and would load that at its next start.
        await must('firewall-offline-cmd', zone('now', 'remove'));
      }
    },
  };
}
