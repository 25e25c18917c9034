import { Session } from 'node:inspector';
import { setTimeout as after } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { logOutput } from '../log-output.ts';
import { SharedLoopState } from './shared-loop-state.ts';
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
const output = logOutput(STDERR);
const log = {
  /** Without the logger, which would take 20 ms of every start; nothing here holds a secret. */
  error(fields: object, msg: string): void {
    output.write(`${JSON.stringify({ level: 50, time: new Date().toISOString(), ...fields, msg })}\n`);
  },
};
const turns = new SharedLoopState(buffer);
const count = new StallCount({ tickMs, isSupervised });

for (;;) {
  await after(tickMs);
  const finding = count.tick(turns.look(performance.now()));
  // Not awaited: a tick that comes late restarts the count.
  if (finding === 'stalled') void report();
  if (finding === 'hopeless') await endProcess();
}

/** A process without a supervisor goes on, and from the report on ends by a signal. */
async function report(): Promise<void> {
  turns.countStall();
  const stack = await pauseToEvaluate(isSupervised ? '' : `${RESCUE}.letSignalsEnd()`);
  log.error({ part: 'watchdog', stack }, 'the serving thread stands still: nobody is answered');
}

async function endProcess(): Promise<void> {
  const stack = await pauseToEvaluate('');
  const fields = { part: 'watchdog', exitCode: STALLED_EXIT_CODE, stack };
  log.error(fields, 'the serving thread still stands still: the process ends');
  void pauseToEvaluate(`process.exit(${STALLED_EXIT_CODE})`);
  await after(PATIENCE_MS);
  // In native code no script runs any more.
  process.kill(process.pid, 'SIGKILL');
}

type Stack = readonly string[] | 'in native code';

/**
 * Halts the serving thread between two steps of its script and evaluates the expression there. In native code it does so
 * once the thread is back in its script.
 *
 * @returns the stack of the serving thread, after the expression was evaluated
 */
function pauseToEvaluate(expression: string): Promise<Stack> {
  const session = new Session();
  session.connectToMainThread();
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => urls.set(scriptId, url));
  const { promise, resolve } = Promise.withResolvers<Stack>();
  session.once('Debugger.paused', ({ params: { callFrames } }) => {
    const stack = callFrames.slice(0, MAX_FRAMES).map(({ functionName, location: { scriptId, lineNumber } }) => {
      return `${functionName || '(anonymous)'} (${urls.get(scriptId) ?? ''}:${lineNumber + 1})`;
    });
    session.post('Runtime.evaluate', { expression }, () => resolve(stack));
    session.post('Debugger.resume', () => session.disconnect());
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  setTimeout(resolve, PATIENCE_MS, 'in native code');
  return promise;
}
