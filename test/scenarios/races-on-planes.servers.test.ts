import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, type ClusterPlane, startCluster } from '../kits/cluster.ts';
import { approver, ask, opens, person, plannedAt, subAgent, waitingAt, webAndDb } from '../kits/cluster-users.ts';
import { ADMIN_PASSWORD, type Api, type ApiAnswer, FIRST_ADMIN, freshWorkspace } from '../kits/http/harness.ts';
import { joinTokenFor, type Place, register } from '../kits/http/joining.ts';
import { enrolSecondFactor } from '../kits/http/second-factor.ts';
import { type Databases, hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

const ROUNDS = process.env['MESH_LONG'] === '1' ? 100 : 3;
const ADMIN = { username: 'admin', password: ADMIN_PASSWORD };
const CONFIG = { app: { rateLimit: 1_000_000, initAdmins: [FIRST_ADMIN], signIn: { lockAfter: 100 } } };
/** Reads of a session before it ends at another control plane, and after. */
const READS = 12;

describe.skipIf(!hasMongod)('what is asked of three control planes at the same moment', { timeout: 300_000 }, () => {
  let servers: Databases;
  let cluster: Cluster;
  let admin: Place;
  beforeAll(async () => {
    servers = await shareReplicaSet();
    cluster = await startCluster({ servers, config: CONFIG });
    admin = await freshWorkspace(cluster.api, 'home');
  }, 180_000);
  afterAll(async () => {
    await cluster?.stop();
    await servers?.stop();
  });

  /** Asks each control plane at once, and the first one twice. */
  const everywhere = <T>(asking: (api: Api, nth: number) => Promise<T>): Promise<T[]> =>
    Promise.all([...cluster.planes, ...cluster.planes.slice(0, 1)].map(({ api }, nth) => asking(api, nth)));
  const post = (place: Partial<Place>, route: string, body: object) => (api: Api) =>
    api('POST', `/api/v1/${route}`, { ...place, body });
  const statuses = (answers: readonly ApiAnswer[]) => answers.map(({ status }) => status).sort();
  const planes = () => cluster.planes as readonly [ClusterPlane, ClusterPlane, ClusterPlane];
  const workflow = (place: Place, id: string) => ask(cluster, place, 'GET', `workflows/${id}`);

  describe('for who may sign in', () => {
    test('a join token of one use lets one device in', async () => {
      for (let n = 0; n < ROUNDS; n += 1) {
        const token = await joinTokenFor(cluster, admin, { usageLimit: 1 });
        const answers = await everywhere((api, nth) => register({ api }, token, `once-${n}-${nth}`));
        expect(statuses(answers)).toEqual([201, 401, 401, 401]);
      }
    });

    test('a one-time code and a recovery code sign one in', async () => {
      for (const kind of ['code', 'recovery code']) {
        // Of failed logins an account has five a minute from one address.
        const { username, password, token } = await person(cluster, admin, `with-a-${kind.replace(' ', '-')}`);
        const { codeAt, recoveryCodes } = await enrolSecondFactor(cluster, token, password);
        const otp = kind === 'code' ? codeAt(1) : recoveryCodes[0];
        const answers = await everywhere(post({}, 'users/login', { username, password, otp }));
        expect(statuses(answers)).toEqual([200, 401, 401, 401]);
        for (const { status, body } of answers) if (status === 401) expect(body.code).toBe('otp_required');
        const { recoveryCodesLeft } = await ask(cluster, { token }, 'GET', 'users/me/otp');
        expect(recoveryCodesLeft).toBe(recoveryCodes.length - (kind === 'code' ? 0 : 1));
      }
    });

    test('a session that ends at one is refused by the others from when that was answered', async () => {
      for (let n = 0; n < ROUNDS; n += 1) {
        const token = (await ask(cluster, {}, 'POST', 'users/login', ADMIN)).data.token as string;
        const session = { ...admin, token };
        let isOver = false;
        const used = cluster.planes.map(async ({ api }) => {
          const late: number[] = [];
          for (let reads = 0; reads < READS || !isOver; reads += 1) {
            const wasOver = isOver;
            const { status } = await api('GET', '/api/v1/peers', session);
            if (wasOver) late.push(status);
          }
          late.push((await api('GET', '/api/v1/peers', session)).status);
          return late;
        });
        expect((await planes()[n % 3]?.api('POST', '/api/v1/users/logout', session))?.status).toBe(200);
        isOver = true;
        for (const late of await Promise.all(used)) expect(new Set(late)).toEqual(new Set([401]));
      }
    });

    test('an account and a workspace of one name are made once', async () => {
      for (let n = 0; n < ROUNDS; n += 1) {
        const account = { username: `same-${n}`, password: ADMIN_PASSWORD };
        const accounts = await everywhere(post(admin, 'users', account));
        expect(statuses(accounts)).toEqual([201, 409, 409, 409]);
        const workspace = { slug: `same-${n}`, namespace: `same-${n}`, displayName: 'same', maxNodeCount: 5 };
        const workspaces = await everywhere(post(admin, 'workspaces/add', workspace));
        expect(statuses(workspaces)).toEqual([200, 409, 409, 409]);
      }
      const { items } = await ask(cluster, admin, 'GET', 'workspaces');
      expect(items.filter(({ slug }: { slug: string }) => slug === 'same-0')).toHaveLength(1);
    });

    test('two administrators who demote each other leave one', async () => {
      const people = [ADMIN, await person(cluster, admin, 'second', 'platform_admin')] as const;
      const names = people.map(({ username }) => username);
      const signIn = () =>
        Promise.all(
          people.map(async ({ username, password }): Promise<string> => {
            return (await ask(cluster, {}, 'POST', 'users/login', { username, password })).data.token;
          }),
        );
      const change = (api: Api, token: string | undefined, username: string | undefined, role: string) =>
        api('PATCH', `/api/v1/users/${username}`, { ...(token && { token }), body: { role } });
      for (let n = 0; n < ROUNDS; n += 1) {
        const tokens = await signIn();
        await everywhere((api, nth) => change(api, tokens[nth % 2], names[(nth + 1) % 2], 'user'));
        const now = await signIn();
        const may = await Promise.all(now.map((token) => cluster.api('GET', '/api/v1/users', { token })));
        const left = may.findIndex(({ status }) => status === 200);
        expect(left).not.toBe(-1);
        for (const username of names) await change(cluster.api, now[left], username, 'platform_admin');
      }
    });
  });

  describe('for what a person decides', () => {
    let place: Place;
    let olga: Place;
    let worker: string;
    beforeAll(async () => {
      place = await webAndDb(cluster, 'decided');
      olga = await approver(cluster, place);
      worker = await subAgent(cluster, place, olga);
    });

    test('a plan is put forward by one of those who apply it, and the others hear that it was used', async () => {
      for (let n = 0; n < ROUNDS; n += 1) {
        const planId = await plannedAt(planes()[0], place, `plan-${n}`, 4_000 + n);
        const answers = await everywhere(post(place, 'ai/intent/apply', { plan_id: planId, approved_by: 'admin' }));
        expect(statuses(answers)).toEqual([200, 409, 409, 409]);
        for (const { status, body } of answers)
          if (status === 409) expect(body.detail).toMatch(/has been used already.*plan the change again/);
      }
    });

    test('a workflow that all approve is carried out once, and only one of them approved it', async () => {
      for (let n = 0; n < ROUNDS; n += 1) {
        const id = await waitingAt(place, [planes()[1], planes()[2]], `approved-${n}`, 5_000 + n);
        const answers = await everywhere(post(olga, `workflows/${id}/approve`, {}));
        expect(statuses(answers)).toEqual([200, 409, 409, 409]);
        expect(await workflow(place, id)).toMatchObject({ status: 'executed' });
        expect(await timesCreated(place, `approved-${n}`)).toBe(1);
      }
    });

    test('one of an approval and a rejection holds, and what it said is what becomes of it', async () => {
      for (let n = 0; n < ROUNDS; n += 1) {
        const id = await waitingAt(place, [planes()[0], planes()[1]], `either-${n}`, 6_000 + n);
        const verbs = ['approve', 'reject', 'approve', 'reject'] as const;
        const answers = await everywhere((api, nth) => post(olga, `workflows/${id}/${verbs[nth]}`, {})(api));
        expect(statuses(answers)).toEqual([200, 409, 409, 409]);
        const isApproved = verbs[answers.findIndex(({ status }) => status === 200)] === 'approve';
        expect((await workflow(place, id)).status).toBe(isApproved ? 'executed' : 'rejected');
        expect(await timesCreated(place, `either-${n}`)).toBe(isApproved ? 1 : 0);
      }
    });

    test('a change of a sub-agent is carried out once by those who approve it', async () => {
      await settings({ requireApproval: true });
      for (let n = 0; n < ROUNDS; n += 1) {
        const held = await planes()[n % 3]?.api('POST', '/api/v1/policies', {
          ...place,
          token: worker,
          body: opens(`held-${n}`, 7_000 + n),
        });
        const answers = await everywhere(post(olga, `workflows/${held?.body.workflow_id}/approve`, {}));
        expect(statuses(answers)).toEqual([200, 409, 409, 409]);
        expect(await workflow(place, held?.body.workflow_id)).toMatchObject({ status: 'executed' });
        expect(await timesCreated(place, `held-${n}`)).toBe(1);
      }
    });

    test('the same call waits in one workflow, and is carried out once by those who approve it', async () => {
      await settings({ requireApproval: true });
      for (let n = 0; n < ROUNDS; n += 1) {
        const route = `workspaces/${place.workspace}/members/member-${n}`;
        const held = await everywhere((api) =>
          api('PUT', `/api/v1/${route}`, { ...place, body: { role: 'operator' } }),
        );
        expect(statuses(held)).toEqual([202, 202, 202, 202]);
        const [id, ...others] = new Set(held.map(({ body }) => body.workflow_id));
        expect(others).toEqual([]);
        const answers = await everywhere(post(olga, `workflows/${id}/approve`, {}));
        expect(statuses(answers)).toEqual([200, 409, 409, 409]);
        expect(await workflow(place, id)).toMatchObject({ status: 'executed' });
      }
    });

    test('an approved call with a secret in its answer is answered to one of those who repeat it', async () => {
      await settings({ requireApproval: true });
      for (let n = 0; n < ROUNDS; n += 1) {
        const agent = { name: `deployer-${n}` };
        const { workflow_id: id } = await ask(cluster, place, 'POST', 'agents', agent);
        await ask(cluster, olga, 'POST', `workflows/${id}/approve`, {});
        const answers = await everywhere(post(place, 'agents', agent));
        const made = answers.filter(({ status }) => status === 201);
        expect(made).toHaveLength(1);
        expect(made[0]?.body.token).toMatch(/^mesh-agt-/);
        for (const { status, body } of answers) {
          if (status === 409)
            expect(body.detail).toMatch(
              /is (executed by now|carried out at this moment), and was not carried out again|An agent \S+ exists already/,
            );
          // Who came before that name was known to be taken asks anew.
          else if (status !== 201) expect([status, body.status]).toEqual([202, 'pending_approval']);
        }
        expect(await workflow(place, id)).toMatchObject({ status: 'executed' });
      }
    });

    const settings = (wanted: object) =>
      ask(cluster, place, 'PATCH', `workspaces/${place.workspace}`, { settings: wanted });
  });

  /** How often the log says that a policy was made. */
  async function timesCreated({ workspace }: Place, policy: string): Promise<number> {
    const log = servers.db(cluster.database).collection<{ entry: string }>('log');
    const entries = await log.find({ '_id.ws': workspace } as object).toArray();
    type Commit = { readonly changes: readonly { type: string; kind: string; name: string }[] };
    const changes = entries.flatMap(({ entry }) => (JSON.parse(entry).commit as Commit[] | undefined) ?? []);
    return changes
      .flatMap((commit) => commit.changes)
      .filter(({ type, kind, name }) => type === 'created' && kind === 'MeshPolicy' && name === policy).length;
  }
});
