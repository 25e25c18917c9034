import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AGENT_PEER_QUOTA } from '../../core/enrolment/register.ts';
import { MAX_WEBHOOKS } from '../../core/webhooks/webhook-record.ts';
import { type Cluster, startCluster } from '../kits/cluster.ts';
import { approver, ask, opens, rootAgent, webAndDb } from '../kits/cluster-users.ts';
import { type Api, type ApiAnswer, freshWorkspace } from '../kits/http/harness.ts';
import { joinTokenFor, register } from '../kits/http/joining.ts';
import { type Databases, hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

const ROUNDS = process.env['MESH_LONG'] === '1' ? 50 : 3;

describe.skipIf(!hasMongod)(
  'what no record alone says, asked of three control planes at once',
  { timeout: 300_000 },
  () => {
    let servers: Databases;
    let cluster: Cluster;
    beforeAll(async () => {
      servers = await shareReplicaSet();
      cluster = await startCluster({ servers });
    }, 180_000);
    afterAll(async () => {
      await cluster?.stop();
      await servers?.stop();
    });

    const everywhere = <T>(asking: (api: Api, nth: number) => Promise<T>): Promise<T[]> =>
      Promise.all(cluster.planes.map(({ api }, nth) => asking(api, nth)));
    const statuses = (answers: readonly ApiAnswer[]) => answers.map(({ status }) => status).sort();

    test('a workspace has no more webhooks than it may have', async () => {
      const place = await freshWorkspace(cluster.api, 'webhooks');
      const route = `/api/v1/workspaces/${place.workspace}/webhooks`;
      const make = (api: Api, nth: number) =>
        api('POST', route, {
          ...place,
          body: { url: `https://hooks.example.com/${nth}`, events: ['*'], enabled: false },
        });
      for (let n = 1; n < MAX_WEBHOOKS; n += 1) expect((await make(cluster.api, n)).status).toBe(201);
      for (let n = 0; n < ROUNDS; n += 1) {
        const answers = await everywhere(make);
        expect(statuses(answers)).toEqual([201, 409, 409]);
        const made = answers.find(({ status }) => status === 201)?.body.id;
        await ask(cluster, place, 'DELETE', `workspaces/${place.workspace}/webhooks/${made}`);
      }
    });

    test('a workspace has no more devices than it may have, and an agent no more than its part of them', async () => {
      const most = 4;
      for (let n = 0; n < ROUNDS; n += 1) {
        const place = await freshWorkspace(cluster.api, `full-${n}`, most);
        const olga = await approver(cluster, place);
        const agent = await rootAgent(cluster, place, olga, ['network:read', 'tokens:write']);
        const delegated = await joinTokenFor(cluster, { ...place, token: agent }, { usageLimit: 3 });
        const own = most * AGENT_PEER_QUOTA;
        const ofAgent = await everywhere((api, nth) => register({ api }, delegated, `a-${nth}`));
        expect(statuses(ofAgent)).toEqual([201, 201, 409]);
        const token = await joinTokenFor(cluster, place);
        const others = await everywhere((api, nth) => register({ api }, token, `b-${nth}`));
        expect(others.filter(({ status }) => status === 201)).toHaveLength(most - own);
        expect((await ask(cluster, place, 'GET', 'peers')).items).toHaveLength(most);
      }
    });

    test('an assertion that holds for each of two policies alone is not broken by both', async () => {
      const place = await webAndDb(cluster, 'asserted');
      // Closed by either of two policies, so that one of them may go.
      for (const name of ['one', 'two']) await ask(cluster, place, 'POST', 'policies', closes(name));
      const closed = { name: 'closed', src: 'role=web', dst: 'role=db', expect: 'unreachable' };
      await ask(cluster, place, 'POST', 'assertions', closed);
      for (let n = 0; n < ROUNDS; n += 1) {
        const answers = await Promise.all(
          ['one', 'two'].map((name, nth) =>
            cluster.planes[(n + nth) % 3]?.api('DELETE', `/api/v1/policies/${name}`, place),
          ),
        );
        expect(statuses(answers as ApiAnswer[])).toEqual([200, 422]);
        const { items } = await ask(cluster, place, 'GET', 'assertions');
        expect(items).toMatchObject([{ status: { holds: true } }]);
        const gone = answers[0]?.status === 200 ? 'one' : 'two';
        await ask(cluster, place, 'POST', 'policies', closes(gone));
      }
    });

    test('an assertion and a policy that breaks it are not both made', async () => {
      const place = await webAndDb(cluster, 'either');
      await ask(cluster, place, 'POST', 'policies', closes('closed'));
      for (let n = 0; n < ROUNDS; n += 1) {
        const body = { name: `never-${n}`, src: 'role=web', dst: 'role=db', port: 5_432, expect: 'unreachable' };
        const [asserted, opened] = await Promise.all([
          cluster.planes[n % 3]?.api('POST', '/api/v1/assertions', { ...place, body }),
          cluster.planes[(n + 1) % 3]?.api('POST', '/api/v1/policies', { ...place, body: opens(`open-${n}`, 5_432) }),
        ]);
        expect([asserted?.status, opened?.status].sort()).toEqual([201, 422]);
        await ask(cluster, place, 'DELETE', asserted?.status === 201 ? `assertions/never-${n}` : `policies/open-${n}`);
      }
    });

    test('schedules of different frameworks that are set at once are all kept', async () => {
      for (let n = 0; n < ROUNDS; n += 1) {
        const place = await freshWorkspace(cluster.api, `scheduled-${n}`);
        const frameworks = ['pci-dss', 'soc2', 'hipaa'];
        const body = { cadence: 'monthly', enabled: false };
        const answers = await everywhere((api, nth) =>
          api('PUT', `/api/v1/ai/compliance/schedules/${frameworks[nth]}`, { ...place, body }),
        );
        const kept = (await ask(cluster, place, 'GET', 'ai/compliance/schedules')).items;
        expect(kept).toHaveLength(answers.filter(({ status }) => status === 200).length);
      }
    });
  },
);

/** Isolates the database, by a policy that opens nothing. */
const closes = (name: string) => ({
  name,
  spec: { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } }, ingress: [] },
});
