import { setTimeout as after } from 'node:timers/promises';
import type { runProgram, StartedProgram, StartProgram } from '../run-program.ts';
import { PASSED } from './passed.ts';
import { tableOf } from './render.ts';

/** Of conntrack's names: right behind `mangle`, where that is written. */
const BEHIND_RULES = -149;
/** The guard of an agent that was killed goes with its program, which may take a moment. */
const TRIES = 20;
const TRY_MS = 50;

/**
 * Denies what comes from an overlay while its rules are gone. A table that its process owns is the only one that nobody else
 * can flush; it goes with that process, an interactive nft, which goes with this one. It lets in what the rules marked, so
 * that without them nothing comes in (docs/decisions/0114-guard-of-the-rules.md).
 */
export interface Guard {
  /** Puts it in force where it is not. @returns whether this host could */
  keep(): Promise<boolean>;
  close(): Promise<void>;
}

export function guardOf(interfaceName: string, run: typeof runProgram, start: StartProgram): Guard {
  const table = guardTableOf(interfaceName);
  let program: StartedProgram | undefined;
  let isPossible = true;

  async function isInForce(): Promise<boolean> {
    const { code, stdout } = await run('nft', ['list', 'table', 'inet', table]);
    return code === 0 && /flags [\w,]*owner/.test(stdout) && stdout.includes('meta priority set');
  }

  async function open(): Promise<boolean> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const started = start('nft', ['--interactive'], () => {});
      for (const line of linesOf(table, interfaceName)) started.write(line);
      let hasEnded = false;
      void started.ended.then(() => {
        hasEnded = true;
        if (program === started) program = undefined;
      });
      for (let looks = 0; looks < TRIES && !hasEnded; looks += 1) {
        if (await isInForce()) {
          program = started;
          return true;
        }
        await after(TRY_MS);
        if (looks > 1) break;
      }
      await started.end();
    }
    return false;
  }

  return {
    async keep() {
      if (program || !isPossible) return program !== undefined;
      isPossible = await open();
      return isPossible;
    },
    async close() {
      const ending = program;
      program = undefined;
      await ending?.end();
    },
  };
}

function linesOf(table: string, interfaceName: string): readonly string[] {
  const overlay = JSON.stringify(interfaceName);
  return [
    `add table inet ${table} { flags owner; }`,
    `add chain inet ${table} c_guard { type filter hook prerouting priority ${BEHIND_RULES}; policy accept; }`,
    `add rule inet ${table} c_guard iif ${overlay} meta priority != ${PASSED} drop`,
    `add rule inet ${table} c_guard iif ${overlay} meta priority set 0`,
  ];
}

/** Apart from the rules, whose table each other program may take away. */
function guardTableOf(interfaceName: string): string {
  return tableOf(interfaceName).replace('mesh_', 'mesh_guard_');
}
