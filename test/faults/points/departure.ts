import { setTimeout as after } from 'node:timers/promises';
import type { World } from '../world.ts';
import { call, type Place, read } from '../writes.ts';

const SPAN_MS = 150;
const PASSWORD = 'first-Person-pass';
/** What was begun is finished by itself, a minute later where nobody can tell whether it is under way. */
const FINISHED_WITHIN_MS = 300_000;
const LOOK_AGAIN_MS = 50;

interface Person {
  readonly username: string;
  /** The workflow in which the deletion waits, of who may approve in a workspace that asks for it. */
  readonly workflow?: string;
}

/** While people are deleted, each of whom is gone then with all memberships, or is there as before; and none is deleted twice. */
export async function killInDeparture(world: World): Promise<void> {
  const { place, guardedPlace } = world;
  const people = [await person(world, 'viewer'), await person(world, 'operator'), await person(world, 'operator')];
  const acknowledged = new Set<string>();
  const remove = async ({ username, workflow }: Person) => {
    const { status, body, text } = workflow
      ? await call(guardedPlace, 'POST', `/workflows/${workflow}/approve`, { note: 'they leave' })
      : await call(place, 'DELETE', `/users/${username}`);
    if (status > 299 || (workflow && body.status !== 'executed'))
      throw new Error(`No deletion of ${username}: ${text}`);
    acknowledged.add(username);
  };
  await world.killDuring('deletion of an account', () => Promise.allSettled(people.map(remove)), SPAN_MS);
  world.looks.push(async (now) => {
    const findings: string[] = [];
    for (const one of people) findings.push(...(await goneOrThere(now, one, acknowledged.has(one.username))));
    return findings;
  });
}

/** Somebody with a role in both workspaces, whose deletion waits where it has to. */
async function person({ place, guardedPlace, random }: World, role: 'operator' | 'viewer'): Promise<Person> {
  const username = `p${random.below(1e9)}`;
  await done(place, 'POST', '/users', { username, password: PASSWORD, displayName: '', role: 'user' });
  for (const at of [place, guardedPlace]) {
    const { status, body } = await done(at, 'PUT', `/workspaces/${at.workspace}/members/${username}`, { role });
    if (status === 202) await done(at, 'POST', `/workflows/${body.workflow_id}/approve`, {});
  }
  const { status, body } =
    role === 'operator' ? await done(place, 'DELETE', `/users/${username}`) : { status: 0, body: undefined };
  return { username, ...(status === 202 && { workflow: body.workflow_id }) };
}

async function done(place: Place, ...asked: [method: string, route: string, body?: unknown]) {
  const answer = await call(place, ...asked);
  if (answer.status > 299) throw new Error(`${asked[0]} ${asked[1]} answered ${answer.status}: ${answer.text}`);
  return answer;
}

async function goneOrThere(world: World, { username, workflow }: Person, wasTold: boolean): Promise<string[]> {
  const { place, guardedPlace } = world;
  const until = performance.now() + FINISHED_WITHIN_MS;
  for (;;) {
    const account = (await read(place, '/users?limit=200')).body.items.find(
      (one: { username: string }) => one.username === username,
    );
    const roles = await Promise.all([place, guardedPlace].map((at) => isMember(at, username)));
    const state = workflow ? (await read(guardedPlace, `/workflows/${workflow}`)).body.status : undefined;
    const isGone = account === undefined && roles.every((is) => !is) && (state ?? 'executed') === 'executed';
    const isThere = account?.disabled === false && roles.every((is) => is) && (state ?? 'pending') === 'pending';
    if (isGone) return [];
    if (isThere) return wasTold ? [`lost: the deletion of ${username}`] : [];
    if (performance.now() > until) {
      const said = { account, roles, state };
      return [`${username} is neither deleted nor there as before: ${JSON.stringify(said)}`];
    }
    await after(LOOK_AGAIN_MS);
  }
}

async function isMember(place: Place, username: string): Promise<boolean> {
  const { body } = await read(place, `/workspaces/${place.workspace}/members?limit=200`);
  return body.items.some((one: { username: string }) => one.username === username);
}
