import { Session } from 'node:inspector';
import { setTimeout as after } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { buildLog } from '../log.ts';
import { logOutput } from '../log-output.ts';
import { SharedTurns } from './shared-turns.ts';
import { StallCount } from './stall-count.ts';
import { RESCUE, type WatchdogData } from './watchdog.ts';

/** Exit code of a process that ends since its serving thread stood still: EX_SOFTWARE of sysexits.h. */
const STALLED_EXIT_CODE = 70;
/** The serving thread answers the inspector within this, unless it is in native code, ms. */
const PATIENCE_MS = 1_000;
/** Frames of a stack that are logged. */
const MAX_FRAMES = 40;
const STDERR = 2;

/** Watches the serving thread from a thread of its own. What it logs goes to the descriptor: the stream is the other thread's. */
const { turns: buffer, tickMs, isSupervised } = workerData as WatchdogData;
const log = buildLog('error', logOutput(STDERR));
const turns = new SharedTurns(buffer);
const count = new StallCount({ tickMs, isSupervised });

for (;;) {
  await after(tickMs);
  const finding = count.tick(turns.look(performance.now()));
  if (finding === 'stalled') await report();
  if (finding === 'hopeless') await endProcess();
}

async function report(): Promise<void> {
  turns.countStall();
  const stack = await inPause(isSupervised ? undefined : `${RESCUE}.letSignalsEnd()`);
  log.error(
    { part: 'watchdog', stack: stack ?? 'in native code' },
    'the serving thread stands still: nobody is answered',
  );
}

async function endProcess(): Promise<void> {
  log.error(
    { part: 'watchdog', exitCode: STALLED_EXIT_CODE },
    'the serving thread still stands still: the process ends',
  );
  await inPause(`process.exit(${STALLED_EXIT_CODE})`);
  await after(PATIENCE_MS);
  // In native code no script runs any more.
  process.kill(process.pid, 'SIGKILL');
}

/**
 * Halts the serving thread between two steps of its script, and evaluates an expression there.
 *
 * @returns its stack, or undefined where it could not be halted
 */
async function inPause(expression: string | undefined): Promise<readonly string[] | undefined> {
  const session = new Session();
  session.connectToMainThread();
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => urls.set(scriptId, url));
  try {
    return await new Promise<readonly string[] | undefined>((resolve) => {
      setTimeout(resolve, PATIENCE_MS, undefined);
      session.once('Debugger.paused', ({ params: { callFrames } }) => {
        if (expression !== undefined) session.post('Runtime.evaluate', { expression });
        session.post('Debugger.resume');
        resolve(
          callFrames.slice(0, MAX_FRAMES).map(({ functionName, location: { scriptId, lineNumber } }) => {
            return `${functionName || '(anonymous)'} (${urls.get(scriptId) ?? ''}:${lineNumber + 1})`;
          }),
        );
      });
      session.post('Debugger.enable');
      session.post('Debugger.pause');
    });
  } finally {
    session.disconnect();
  }
}
