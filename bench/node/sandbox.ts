import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { linuxProcesses } from '../../client/tunnel/process-table.ts';
import { natlab } from '../../test/kits/lab/natlab.ts';
import { LabNode } from '../../test/kits/lab/natlab-node.ts';
import { startLabPlane } from '../../test/kits/lab/natlab-plane.ts';
import { type Caller, delegations, lineOf, startLine } from '../../test/kits/lab/sandboxes.ts';
import { launcher } from '../../test/kits/process/run-command.ts';
import { memoryOf } from './process.ts';

/**
 * Sandboxes of both callers, in one lab, as root: node bench/node/sandbox.ts. Seconds from the command line to the first answered
 * packet, and memory of all processes that a sandbox keeps, beside those of a node with an interface.
 */
const TURNS = 5;
const SCRIPT = 'until ping -c 1 -W 1 b >/dev/null 2>&1; do :; done; echo answered; sleep 600';

await using lab = await natlab({ hosts: { a: {}, b: {} } });
await using plane = await startLabPlane(lab);
const delegate = await delegations(plane, { reach: [{ to: [{ peerSelector: {} }] }] });
const b = new LabNode(lab.host('b'));
await b.join(await plane.joinToken());
const began = performance.now();
await b.up();
const node = { seconds: (performance.now() - began) / 1_000, mb: await treeMb((await b.status()).node.pid) };

/** Proportional set size in MB of a process and all below it. */
async function treeMb(pid: number): Promise<number> {
  const pids = readdirSync('/proc').map(Number).filter(Boolean);
  const parents = new Map(
    await Promise.all(pids.map(async (one) => [one, (await linuxProcesses(one))?.parent] as const)),
  );
  const isBelow = (one: number | undefined): boolean => one !== undefined && (one === pid || isBelow(parents.get(one)));
  return pids.filter(isBelow).reduce((sum, one) => sum + memoryOf(one).pss, 0);
}

async function start(caller: Caller): Promise<{ readonly seconds: number; readonly mb: number }> {
  const token = await delegate();
  const [file = '', ...args] = lineOf(caller, [launcher('mesh'), ...startLine(['sh', '-c', SCRIPT])]);
  const from = performance.now();
  const child = lab.host('a').spawn(file, args, { HOME: '/', MESH_TOKEN: token });
  child.stderr?.resume();
  await once(child.stdout as Readable, 'data');
  const seconds = (performance.now() - from) / 1_000;
  const mb = await treeMb(child.pid ?? 0);
  child.kill('SIGTERM');
  await once(child, 'close');
  return { seconds, mb };
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const say = (what: string, { seconds, mb }: { readonly seconds: number; readonly mb: number }) =>
  process.stdout.write(`${seconds.toFixed(2).padStart(8)} s ${mb.toFixed(0).padStart(6)} MB PSS  ${what}\n`);
for (const caller of ['root', 'an ordinary user'] as const) {
  await start(caller);
  const runs = [];
  for (let turn = 0; turn < TURNS; turn += 1) runs.push(await start(caller));
  say(`sandbox of ${caller}, to its first answer`, {
    seconds: median(runs.map((run) => run.seconds)),
    mb: median(runs.map((run) => run.mb)),
  });
}
say('node with an interface and its wireguard-go aside, until mesh up returns', node);
await b.stop();
