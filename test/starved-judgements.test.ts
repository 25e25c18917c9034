import { expect, test } from 'vitest';
import { newId } from '../core/base/ids.ts';
import { EXPENSIVE_ATTEMPTS } from '../core/base/serialize.ts';
import { WriteQueue } from '../core/base/write-queue.ts';
import { buildGate } from '../core/call/gate.ts';
import { invoke } from '../core/call/invoke.ts';
import { JsonText } from '../core/compute/compute.ts';
import { SELF_CHANGE_PAUSE_MS } from '../core/peers/self-change.ts';
import type { Services } from '../core/workflow/services.ts';
import { COMPUTE_LIMITS } from '../plane/compute/limits.ts';
import { heavyComputations } from '../tools/heavy.ts';
import { operations } from '../tools/index.ts';
import { type DeviceKey, enrol, freshKey, join, proofOf } from './kits/plane/devices.ts';
import { buildKit, type Kit, person } from './kits/plane/kit.ts';

const SCOPES = ['network:read', 'network:write', 'intents:plan', 'intents:apply'];
const WEB = { peerSelector: { matchLabels: { role: 'web' } } };
const PORTS = [{ protocol: 'TCP', port: 443 }];
/** Within the reach of the agent; for everyone it is beyond. */
const WITHIN = { action: 'ALLOW', ...WEB, ingress: [{ from: [{ peerSelector: {} }], ports: PORTS }] };

/** The same store under another control plane: it does not wait for the turns of the first. */
function anotherPlane({ services }: Kit) {
  const others: Services = { ...services, store: { ...services.store, queue: new WriteQueue() } };
  const gate = { ...buildGate(others), isDiskFull: () => false };
  const call = async (
    name: string,
    raw: object = {},
    { bearer }: { bearer?: string | undefined } = {},
    // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the operation it names.
  ): Promise<any> => {
    const operation = operations.find((one) => one.name === name);
    if (!operation) throw new TypeError(`There is no operation ${name}.`);
    const signal = AbortSignal.timeout(30_000);
    const of = { bearer, workspaceHints: [], face: 'rest' as const, origin: '', requestId: newId('r'), signal };
    return invoke(operation, { raw: { ...raw }, ...of }, gate);
  };
  return { call, close: () => gate.close() };
}

/** A plane whose judgements take `judgedMs`, during which `meanwhile` is done. */
async function scene(judgedMs: number) {
  const hooks: { meanwhile?: () => Promise<unknown> } = {};
  let judged = 0;
  const kit: Kit = await buildKit({
    compute: {
      async compute(call) {
        const { computation: name, workspace, input } = structuredClone(call);
        const computation = heavyComputations.find((one) => one.name === name);
        const output = await computation?.run(kit.services, workspace, input as never);
        judged += 1;
        kit.clock.time += judgedMs;
        await hooks.meanwhile?.();
        return new JsonText(new TextEncoder().encode(JSON.stringify(output)));
      },
    },
  });
  const workspace = await kit.workspace('prod');
  const as = person('admin', workspace);
  const admin = (name: string, raw: Record<string, unknown> = {}) => kit.call(name, raw, { as, workspace });
  const given = { labels: { role: 'web' }, usageLimit: 50 };
  const { token } = await admin('generate_join_token', { name: 'web', ...given });
  const key = freshKey();
  const proof = proofOf(key, token, kit.services.keys.controlKey);
  const device = await join(kit, workspace, 'web-1', { token, key, proof });
  await admin('create_policy', { name: 'base', spec: { action: 'ALLOW', peerSelector: {}, ingress: [] } });
  const { token: bearer } = await admin('create_agent', {
    name: 'root',
    scopes: SCOPES,
    reach: [{ to: [WEB], ports: PORTS }],
  });
  const other = anotherPlane(kit);
  return {
    ...{ kit, admin, hooks, token, device, other },
    agent: (name: string, raw: Record<string, unknown>) => kit.call(name, raw, { bearer }),
    judged: () => judged,
    async [Symbol.asyncDispose]() {
      other.close();
      await kit[Symbol.asyncDispose]();
    },
  };
}

/** Does at another control plane what a device can do by itself, each as often as it is let. */
function hammering({ kit, token, device, other }: Awaited<ReturnType<typeof scene>>) {
  let [own, key, count] = [device.deviceToken, device.key, 0];
  const done = { renamed: 0, rotated: 0, registered: 0 };
  const attempt = async (what: keyof typeof done, work: () => Promise<void>) => {
    try {
      await work();
      done[what] += 1;
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate_limited', details: { retryAfterSeconds: expect.any(Number) } });
    }
  };
  const controlKey = kit.services.keys.controlKey;
  const renewed = async (newKey: DeviceKey) => {
    const asked = { publicKey: newKey.publicKey, proof: proofOf(newKey, device.id, controlKey) };
    const answer = await other.call('rotate_device_key', asked, { bearer: own });
    [own, key] = [answer.deviceToken, newKey];
  };
  const again = async () => {
    const asked = { publicKey: key.publicKey, proof: proofOf(key, token, controlKey) };
    own = (await enrol(other, token, 'web-1', asked)).deviceToken;
  };
  const round = async () => {
    count += 1;
    const rename = (name: string) =>
      attempt('renamed', () => other.call('rename_own_device', { name }, { bearer: own }));
    const rotate = (newKey: DeviceKey) => attempt('rotated', () => renewed(newKey));
    if (count % 2 === 0) await rotate(freshKey());
    await rename(`web-${count}x`);
    await rename(`web ${count}x`);
    await rotate(freshKey());
    await rotate(key);
    await attempt('registered', again);
  };
  return { round, done };
}

test.each([1_500, 17_000])(
  'a device that does all that it can by itself, all the time and at another control plane, does not keep an approved plan from being carried out: judged for %d ms',
  async (judgedMs) => {
    await using plane = await scene(judgedMs);
    const wide = { name: 'wide', spec: { ...WITHIN, peerSelector: {} } };
    const { workflow_id: id } = await plane.agent('create_policy', wide);
    const { round, done } = hammering(plane);
    plane.hooks.meanwhile = round;
    expect(await plane.admin('approve_workflow', { id })).toMatchObject({ status: 'executed' });
    expect(done.registered).toBeGreaterThan(1);
  },
);

test('three judgements take less than two rests of a device, so that it changes what was judged during two of them at most', () => {
  expect(EXPENSIVE_ATTEMPTS * (COMPUTE_LIMITS.runMs + COMPUTE_LIMITS.judgementWaitMs)).toBeLessThan(
    2 * SELF_CHANGE_PAUSE_MS,
  );
});

test('nor does it keep an agent from writing what it may', async () => {
  await using plane = await scene(1_500);
  plane.hooks.meanwhile = hammering(plane).round;
  expect(await plane.agent('create_policy', { name: 'web', spec: WITHIN })).toMatchObject({ name: 'web' });
});

test('a join token that is made while a write is judged makes it judged anew, and the token of a device does not', async () => {
  await using plane = await scene(0);
  const { round } = hammering(plane);
  await round();
  const before = plane.judged();
  plane.hooks.meanwhile = round;
  await plane.agent('create_policy', { name: 'web', spec: WITHIN });
  expect(plane.judged()).toBe(before + 1);
  plane.hooks.meanwhile = async () => {
    delete plane.hooks.meanwhile;
    await plane.admin('generate_join_token', { name: 'db', labels: { role: 'db' } });
  };
  await plane.agent('create_policy', { name: 'web-2', spec: WITHIN });
  expect(plane.judged()).toBe(before + 3);
});

test.each([
  ['what it is told to let in', { name: 'wide', spec: { ...WITHIN, peerSelector: {} } }, 'create_policy'],
  ['its own labels', { id: 'web-1', labels: { role: 'shut-out' } }, 'update_peer'],
])(
  'a device that changes its name and its key while %s waits for a person does not keep it from being done',
  async (_what, asked, operation) => {
    await using plane = await scene(0);
    const { workflow_id: id } = await plane.agent(operation, asked);
    const { round, done } = hammering(plane);
    for (let minute = 0; minute < 4; minute += 1) {
      await round();
      plane.kit.clock.time += 30_000;
    }
    expect(done).toEqual({ renamed: 2, rotated: 6, registered: 4 });
    expect(await plane.admin('approve_workflow', { id })).toMatchObject({ status: 'executed' });
  },
);
