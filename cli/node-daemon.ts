import { spawn } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import path from 'node:path';
import type { Greeting } from '../client/agent/launch.ts';
import type { Answer } from './answer.ts';
import { CliError, EXIT } from './exit.ts';
import { exitCodeOfHostFirewall, hostFirewallText } from './host-firewall.ts';
import { HINTS, type HintFacts, renumberText } from './node-hints.ts';
import { runnable } from './own-command.ts';
import { visibleTexts } from './visible.ts';

/** The message that the child sends before its parent exits. */
interface ChildMessage {
  readonly line: string;
  readonly exitCode: number;
  readonly greeting?: Greeting;
}

/** A node that has not said within this how it is goes on by itself. */
const WAIT_MS = 60_000;

/**
 * Starts this very command again as a process of its own, waits until its node is up, and shows what it says.
 *
 * @throws CliError with the child's own words when it could not come up
 */
export async function runInBackground({
  logDir,
  interface: name,
}: {
  logDir: string;
  interface: string;
}): Promise<Answer> {
  mkdirSync(logDir, { recursive: true, mode: 0o750 });
  const log = path.join(logDir, `${name}.log`);
  const output = openSync(log, 'a', 0o640);
  const [, script = '', ...args] = process.argv;
  const rest = args.filter((arg) => arg !== '--daemon');
  // The child reuses the code that this process compiled.
  flushCompileCache();
  const child = spawn(process.execPath, [...process.execArgv, script, ...rest, '--daemon-child'], {
    detached: true,
    stdio: ['ignore', output, output, 'ipc'],
  });
  const told = await new Promise<ChildMessage | undefined>((resolve) => {
    const timer = setTimeout(
      () => resolve({ line: 'The node is not up yet; it goes on trying.', exitCode: EXIT.unavailable }),
      WAIT_MS,
    );
    const end = (answer: ChildMessage | undefined) => {
      clearTimeout(timer);
      resolve(answer);
    };
    child.once('message', (message) => end(message as ChildMessage));
    child.once('error', (error) => end({ line: error.message, exitCode: EXIT.unavailable }));
    child.once('exit', () => end(undefined));
  });
  if (child.connected) child.disconnect();
  child.unref();
  if (!told) throw new CliError(`The node ended before it was up. See ${log}`, EXIT.unavailable);
  const text = `${told.line}\nLog: ${log}`;
  if (!told.greeting && told.exitCode !== EXIT.ok) throw new CliError(isPlain(told) ? told.line : text, told.exitCode);
  const { line: _, ...greeting } = told.greeting ?? { line: '' };
  const value = { ...greeting, pid: child.pid, log };
  return { value, text: [...told.line.split('\n'), `Log: ${log}`], exitCode: told.exitCode };
}

/** Returns true if the message itself names the fault, so that the log adds nothing. */
function isPlain({ exitCode }: ChildMessage): boolean {
  return exitCode !== EXIT.unavailable && exitCode !== EXIT.negative;
}

/**
 * How a node stands, for people, and the host's firewall where that was to be opened.
 *
 * @param end how a person ends the node, where there is more to it than `mesh down`
 */
export function greetingText(greeting: Greeting, end = ''): string {
  const { line, state, hostFirewall, directory, proxy } = visibleTexts(greeting);
  const renumber = state === 'refused' ? [renumberText()] : [];
  return [
    `${runnable(line)}${end}`,
    ...renumber,
    ...(proxy === undefined
      ? []
      : [`Proxy: ${proxy}, for SOCKS5 and HTTP. Its password is in the file proxy-password beside node.json.`]),
    ...(hostFirewall ? [hostFirewallText(hostFirewall, directory)] : []),
  ].join('\n');
}

/** States of a node that goes on by itself: it is up, waits for something, or does not route its block. */
export function exitCodeOf({ state, hostFirewall }: Pick<Greeting, 'state' | 'hostFirewall'>): number {
  if (state === 'refused') return EXIT.conflict;
  return hostFirewall ? exitCodeOfHostFirewall(hostFirewall) : EXIT.ok;
}

/** Returns an error for a node that does not keep running: its start is no success. */
export function stoppedError({ name, state }: Greeting, facts: HintFacts): CliError | undefined {
  if (state !== 'removed') return undefined;
  const again = `With a new join token in a file: ${HINTS.joinAgain(facts)}`;
  return new CliError(`${name} is not registered any more. ${again}`, EXIT.notFound);
}

/** From the child: it is up, or why it is not. Nothing happens without a parent. */
export async function notifyParent(outcome: Greeting | Error): Promise<void> {
  const send = process.send?.bind(process);
  if (!send || !process.connected) return;
  const told: ChildMessage =
    outcome instanceof Error
      ? { line: outcome.message, exitCode: outcome instanceof CliError ? outcome.exitCode : EXIT.unavailable }
      : { line: greetingText(outcome), exitCode: exitCodeOf(outcome), greeting: outcome };
  await new Promise<void>((resolve) => send(told, undefined, undefined, () => resolve()));
  if (process.connected) process.disconnect();
}
