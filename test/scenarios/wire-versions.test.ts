import { describe, expect, test } from 'vitest';
import { ControlLink } from '../../client/control/control-link.ts';
import { enrol } from '../../client/enrol/enrol.ts';
import { WIRE, WIRE_HEADER, WIRE_TEXT } from '../../core/model/wire.ts';
import { answerOf, bareNode, configOf, graphOf, JOIN_TOKEN, joinAs, otherPlane } from '../kits/http/bare-node.ts';
import { busNode } from '../kits/http/bus-node.ts';
import { joinTokenFor, register } from '../kits/http/joining.ts';
import { startWiredPlane } from '../kits/http/wired-plane.ts';

const RELEASE = '0.1.0';
const NEXT = `${WIRE.newest}-${WIRE.newest + 1}`;
const TOO_NEW = `${WIRE.newest + 1}-${WIRE.newest + 2}`;
const UPGRADE_PLANE = /^The node speaks .* of the wire and the control plane .*: upgrade the control plane\.$/;
const UPGRADE_NODE = /^The control plane speaks .* of the wire and the node .*: upgrade the node\.$/;
const RECONNECT = { reconnect: false };

describe('a node of a later version', () => {
  test('that is one newer is answered, and what is not known of what it says is ignored on the bus', async () => {
    await using plane = await startWiredPlane();
    const identity = await plane.join('db-1');
    const asked = { token: identity.deviceToken, headers: { [WIRE_HEADER]: NEXT } };
    const { status, headers } = await plane.harness.api('GET', '/api/v1/devices/self/graph', asked);
    expect([status, headers.get(WIRE_HEADER)]).toEqual([200, WIRE_TEXT]);
    await using node = await busNode(plane.busPort, identity, RECONNECT, { wire: NEXT, colour: 'blue', paths: 7 });
    expect(await node.heartbeat()).toMatchObject({ wire: WIRE_TEXT, at: expect.any(String) });
    expect(await node.fetch()).toMatchObject({ kind: 'full', self: { name: 'db-1' } });
  });

  test('that is too new is refused before its token is spent', async () => {
    await using plane = await startWiredPlane();
    const { harness, admin } = plane;
    const token = await joinTokenFor(harness, admin, { usageLimit: 1 });
    for (const said of [TOO_NEW, 'the newest', '1-2, 2-2']) {
      const { status, body } = await harness.api('POST', '/api/v1/devices/register', {
        token,
        body: { name: 'db-1', publicKey: Buffer.alloc(32, 9).toString('base64') },
        headers: { [WIRE_HEADER]: said },
      });
      expect([status, body.code]).toEqual([400, 'unsupported_version']);
      if (said === TOO_NEW) expect(body.detail).toMatch(UPGRADE_PLANE);
    }
    expect((await register(harness, token, 'db-1')).status).toBe(201);
  });

  test('that is too new is refused each call but that by which it leaves, and shown with what to upgrade until it can be heard', async () => {
    await using plane = await startWiredPlane();
    const { harness, admin } = plane;
    const { deviceToken: token } = await plane.join('db-1');
    const own = (method: string, what: string, wire?: string) =>
      harness.api(method, `/api/v1/devices/self${what}`, {
        token,
        ...(method === 'POST' && { body: {} }),
        ...(wire !== undefined && { headers: { [WIRE_HEADER]: wire } }),
      });
    const shown = async () => (await harness.api('GET', '/api/v1/peers/db-1', admin)).body.status;
    const refused = { code: 'unsupported_version', detail: expect.stringMatching(UPGRADE_PLANE) };
    expect((await own('GET', '/graph', TOO_NEW)).body).toMatchObject(refused);
    expect((await own('POST', '/heartbeat', TOO_NEW)).body).toMatchObject(refused);
    expect(await shown()).toMatchObject({ online: false, mismatch: expect.stringMatching(UPGRADE_PLANE) });
    await own('POST', '/heartbeat');
    expect(await shown()).not.toHaveProperty('mismatch');
    expect((await own('DELETE', '', TOO_NEW)).status).toBe(200);
  });

  test('that is too new gets no answer on the bus and is sent no graphs, which it might misread', async () => {
    await using plane = await startWiredPlane();
    const { harness, admin, busPort } = plane;
    const identity = await plane.join('db-1');
    await using before = await busNode(busPort, identity);
    await before.heartbeat();
    await using watcher = await busNode(busPort, await plane.join('web-1'));
    await watcher.heartbeat();
    await watcher.fetch();
    await before.until(() => before.received.length > 0);
    await using upgraded = await busNode(busPort, identity, RECONNECT, { wire: TOO_NEW });
    await expect(upgraded.heartbeat()).rejects.toThrow();
    const { body } = await harness.api('GET', '/api/v1/peers/db-1', admin);
    expect(body.status.mismatch).toMatch(UPGRADE_PLANE);
    await upgraded.nats.flush();
    const seen = upgraded.received.length;
    await plane.join('web-2');
    await watcher.until(() => watcher.graph?.peers.some(({ name }) => name === 'web-2') === true);
    await upgraded.nats.flush();
    expect(upgraded.received.length).toBe(seen);
  });
});

describe('a control plane of a later version', () => {
  test('that is one newer is taken, without the fields that are not known, and is told all that this node says', async () => {
    const plane = await otherPlane(({ call }) => {
      const said = answerOf(RELEASE, call);
      return said && { status: said.status, answer: { ...said.answer, colour: 'blue' } };
    }, NEXT);
    await joinAs({ enrol }, plane.url, JOIN_TOKEN);
    expect(plane.calls.at(-1)?.sent).toMatchObject({ version: '9.9.9' });
    const { link, graphs } = bareNode({ ControlLink }, configOf(RELEASE, plane.url));
    await link.start();
    expect([graphs, link.status.trouble]).toEqual([[graphOf(RELEASE)], '']);
  });

  test('that is too new is shown no token by a newcomer, and leaves a node the network that it has', async () => {
    const plane = await otherPlane(({ call }) => answerOf(RELEASE, call), TOO_NEW);
    await expect(joinAs({ enrol }, plane.url, JOIN_TOKEN)).rejects.toThrow(UPGRADE_NODE);
    expect(plane.calls.map(({ call }) => call)).toEqual(['GET /api/v1/discovery']);
    const kept = graphOf(RELEASE);
    const { link, graphs, standings } = bareNode({ ControlLink }, configOf(RELEASE, plane.url), kept);
    await link.start();
    expect([link.graph, graphs, standings]).toEqual([kept, [], []]);
    expect(link.status.trouble).toMatch(UPGRADE_NODE);
  });
});
