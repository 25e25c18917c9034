import { closeSync, constants, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { isSameInRun, openFile, processesHere } from '../open-files.ts';
import { RUN_DIRECTORY } from '../run-directory.ts';
import type { runProgram } from '../run-program.ts';
import { tableOf } from './render.ts';
import { PASSED } from './render-address.ts';

/** Priority right behind `mangle` in conntrack's names, where the rules are. */
const BEHIND_RULES = -149;
/** Tries until nft has worked off the pipe. */
const TRIES = 20;
const TRY_MS = 50;

/**
 * An nft that reads a named pipe whose other end it holds itself, so that its input never ends, in a session of its own, and
 * that has no output that could break. Without a home it keeps no history.
 */
const HOLD = `mkfifo -m 600 "$1" && exec 3<>"$1" || exit 1
HOME=/nonexistent setsid nft --interactive <&3 3>&- >/dev/null 2>&1 &`;

/**
 * Denies what comes from an overlay while its rules are gone. A table that its process owns is the only one that nobody else
 * can flush; it goes with that process, an interactive nft that outlives its agent: the next one takes it over by its pipe.
 * It lets in what the rules marked, so that without them nothing comes in (docs/decisions/0114-guard-of-the-rules.md).
 */
export interface Guard {
  /** Puts it in force where it is not. @returns whether this host could */
  keep(): Promise<boolean>;
  /** Ends it, whichever agent started it. */
  close(): Promise<void>;
}

export function guardOf(interfaceName: string, run: typeof runProgram): Guard {
  const table = guardTableOf(interfaceName);
  const pipe = path.join(RUN_DIRECTORY, interfaceName, 'guard');
  const lines = linesOf(table, interfaceName);
  /** The end of the pipe that is written to. */
  let writer: number | undefined;
  let isPossible = true;

  /** @returns the table as nft shows it; undefined where there is none */
  async function shown(): Promise<string | undefined> {
    const { code, stdout } = await run('nft', ['list', 'table', 'inet', table]);
    return code === 0 ? stdout : undefined;
  }

  /** A rule of an interface that is gone shows its number. */
  function isWhole(text: string): boolean {
    const overlay = JSON.stringify(interfaceName);
    const rules = [`iif ${overlay} meta priority != ${PASSED} drop`, `iif ${overlay} meta priority set `];
    return /flags [\w,]*owner/.test(text) && rules.every((rule) => text.includes(rule));
  }

  function letGo(): void {
    if (writer !== undefined) closeSync(writer);
    writer = undefined;
  }

  /** @returns false where nobody reads it */
  function tell(line: string): boolean {
    if (writer === undefined) return false;
    try {
      writeSync(writer, `${line}\n`);
      return true;
    } catch (error) {
      // Full: whoever reads it is busy.
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return true;
      letGo();
      return false;
    }
  }

  async function takeOver(): Promise<boolean> {
    const text = await shown();
    if (text === undefined) return false;
    writer = writerOf(pipe) ?? writerOfLost(pipe);
    if (isWhole(text)) return tell('');
    await end();
    return false;
  }

  async function open(): Promise<boolean> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      mkdirSync(path.dirname(pipe), { recursive: true, mode: 0o700 });
      rmSync(pipe, { force: true });
      await run('sh', ['-c', HOLD, 'mesh-guard', pipe]);
      writer = writerOf(pipe);
      tell(lines.join('\n'));
      for (let looks = 0; looks < 3 && tell(''); looks += 1) {
        if (isWhole((await shown()) ?? '')) return true;
        await after(TRY_MS);
      }
      tell('quit');
      letGo();
    }
    return false;
  }

  async function end(): Promise<void> {
    tell('quit');
    letGo();
    for (let looks = 0; (await shown()) !== undefined; looks += 1) {
      if (looks === TRIES) throw new Error(`The nft that holds the table ${table} does not end.`);
      await after(TRY_MS);
    }
    rmSync(pipe, { force: true });
  }

  return {
    async keep() {
      if (tell('')) return true;
      if (isPossible) isPossible = (await takeOver()) || (await open());
      return writer !== undefined;
    },
    async close() {
      if ((await shown()) !== undefined) writer ??= writerOf(pipe) ?? writerOfLost(pipe);
      await end();
    },
  };
}

/** An empty line does nothing, but cannot be written once nobody reads. */
function writerOf(pipe: string): number | undefined {
  try {
    return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    // There is no pipe, or nobody reads it.
    return undefined;
  }
}

/** The same by the process that reads it, where the pipe is gone with the rest of /run. */
function writerOfLost(pipe: string): number | undefined {
  const reader = processesHere().find((pid) => isSameInRun(openFile(pid, 0), pipe));
  if (reader === undefined) return undefined;
  try {
    return openSync(`/proc/${reader}/fd/0`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
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
export function guardTableOf(interfaceName: string): string {
  return tableOf(interfaceName).replace('mesh_', 'mesh_guard_');
}
