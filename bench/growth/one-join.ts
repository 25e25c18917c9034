import { setTimeout as after, setImmediate as nextTurn } from 'node:timers/promises';
import { GraphPush } from '../../plane/graph-push.ts';
import { enrol, joinToken } from '../../test/kits/plane/devices.ts';
import { buildKit, person } from '../../test/kits/plane/kit.ts';

export interface OneJoin {
  /** Of the main thread, from the registration to the last message, join by join. */
  readonly cpuMs: readonly number[];
  /** Of one join. */
  readonly messages: number;
}

const JOINS = 7;
/** Longer than changes gather before they go out. */
const QUIET_MS = 300;
const ALL = { matchLabels: {} };
const RULES = { ingress: [{ from: [{ peerSelector: ALL }] }], egress: [{ to: [{ peerSelector: ALL }] }] };

/** What one more device costs where so many are connected, each next to all others. */
export async function measureOneJoin(devices: number): Promise<OneJoin> {
  await using kit = await buildKit({ now: Date.now() });
  const { services, clock } = kit;
  const workspace = await kit.workspace('bench', 10_000);
  const as = { as: person('admin', workspace), workspace };
  const spec = { action: 'ALLOW', peerSelector: ALL, ...RULES };
  await kit.call('create_policy', { name: 'all', spec }, as);
  const token = await joinToken(kit, workspace, { usageLimit: 10_000 });
  let [published, joined, lastAt] = [0, 0, 0];
  const push = new GraphPush(services, {
    publish() {
      published += 1;
      lastAt = performance.now();
    },
  });
  const join = async () => {
    const { id } = await enrol(kit, token, `device-${joined++}`);
    services.liveness.heard(workspace, id, clock.now());
    push.request(workspace, id);
  };
  const quiet = async () => {
    const begun = performance.now();
    while (performance.now() - Math.max(begun, lastAt) < QUIET_MS) await after(20);
    await nextTurn();
  };
  while (joined < devices) await join();
  await quiet();
  const before = published;
  const cpuMs: number[] = [];
  for (let count = 0; count < JOINS; count += 1) {
    const spent = process.threadCpuUsage();
    await join();
    await quiet();
    const { user, system } = process.threadCpuUsage(spent);
    cpuMs.push((user + system) / 1_000);
  }
  await push.stop();
  return { cpuMs, messages: Math.round((published - before) / JOINS) };
}
