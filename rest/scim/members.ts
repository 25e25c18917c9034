import SCIMMY from 'scimmy';
import type { Json } from './texts.ts';

const { Messages, Types } = SCIMMY;

/** What a request makes of the members of a group, by their uids. */
export type MemberChange = (before: ReadonlySet<string>) => ReadonlySet<string>;

/** A body without what it says of members: the library compares each with each, which takes minutes for thousands. */
interface WithoutMembers {
  readonly rest: Json;
  readonly change: MemberChange;
}

const MEMBERS = /^(?:urn:ietf:params:scim:schemas:core:2\.0:Group:)?members(?:\[\s*value\s+eq\s+"([^"\\]*)"\s*\])?$/i;
const ANY_MEMBERS = /^(?:urn:ietf:params:scim:schemas:core:2\.0:Group:)?members\b/i;

/** Takes the members out of a group as it is written. */
export function takeMembers(body: Json): WithoutMembers {
  const { rest, members } = split(body);
  const after = new Set(members.flatMap(uidsIn));
  return { rest, change: () => after };
}

/** Takes the operations on members out of a PATCH. */
export function takeMemberOperations(body: Json): WithoutMembers {
  const { Operations: operations } = body;
  if (!Array.isArray(operations)) return { rest: body, change: (before) => before };
  const changes: MemberChange[] = [];
  const others: unknown[] = [];
  for (const operation of operations) {
    const { change, rest } = taken(operation);
    if (change) changes.push(change);
    if (rest !== undefined) others.push(rest);
  }
  // The library judges the rest, and this in its place where nothing is left.
  if (others.length === 0) new Messages.PatchOp({ ...body, Operations: operations.slice(0, 1) } as never);
  return {
    rest: { ...body, Operations: others },
    change: (before) => changes.reduce((members, change) => change(members), before),
  };
}

function taken(operation: unknown): { readonly change?: MemberChange; readonly rest?: unknown } {
  const { op, path, value } = Object(operation) as Json;
  const verb = typeof op === 'string' ? op.toLowerCase() : '';
  if (!['add', 'remove', 'replace'].includes(verb)) return { rest: operation };
  if (path === undefined && verb !== 'remove' && isObject(value)) {
    const { rest, members } = split(value);
    if (members.length === 0) return { rest: operation };
    const change = changeBy(verb, members.flatMap(uidsIn));
    return { change, ...(Object.keys(rest).length > 0 && { rest: { op, value: rest } }) };
  }
  if (typeof path !== 'string' || !ANY_MEMBERS.test(path)) return { rest: operation };
  const found = MEMBERS.exec(path);
  const [, uid] = found ?? [];
  if (!found || (uid !== undefined && verb !== 'remove')) {
    throw new Types.Error(
      400,
      'invalidPath',
      `Members are told by members, or members[value eq "…"] to remove one: ${path.slice(0, 100)}`,
    );
  }
  if (uid !== undefined) return { change: changeBy(verb, [uid]) };
  if (verb === 'remove' && value === undefined) return { change: () => new Set() };
  return { change: changeBy(verb, uidsIn(value)) };
}

function changeBy(verb: string, uids: readonly string[]): MemberChange {
  const told = new Set(uids);
  if (verb === 'add') return (before) => before.union(told);
  return verb === 'remove' ? (before) => before.difference(told) : () => told;
}

/** Names of attributes are the same in any case (RFC 7643, section 2.1). */
function split(body: Json): { readonly rest: Json; readonly members: readonly unknown[] } {
  const isOfMembers = ([name]: readonly [string, unknown]) => ANY_MEMBERS.test(name);
  const entries = Object.entries(body);
  return {
    rest: Object.fromEntries(entries.filter((entry) => !isOfMembers(entry))),
    members: entries.filter(isOfMembers).map(([, value]) => value),
  };
}

/** @throws SCIMMY.Types.Error `invalidValue` */
function uidsIn(value: unknown): readonly string[] {
  return [value].flat().map((member) => {
    const uid = isObject(member)
      ? Object.entries(member).find(([name]) => name.toLowerCase() === 'value')?.[1]
      : undefined;
    if (typeof uid === 'string') return uid;
    throw new Types.Error(400, 'invalidValue', 'A member is told as {"value": "…"}, with the id of a person.');
  });
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
