import SCIMMY from 'scimmy';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import { serialized } from '../../core/base/serialize.ts';
import {
  type DirectoryCall,
  deleteDirectoryGroup,
  deleteDirectoryUser,
  directoryGroup,
  directoryGroups,
  directoryUser,
  directoryUsers,
  followDirectory,
  saveDirectoryGroup,
  saveDirectoryUser,
} from '../../core/identity/directory.ts';
import { type DirectoryGroup, type DirectoryUser, directoryKey } from '../../core/model/directory.ts';
import { type MemberChange, takeMemberOperations, takeMembers } from './members.ts';
import { type Json, requireHarmless, requireHarmlessNames, requireHarmlessOperations, requirePatch } from './texts.ts';

const { Config, Resources, Schemas, Types } = SCIMMY;

/** What is used of a resource of the library, whose types would have each attribute written out. */
interface Resource {
  readonly id?: string;
  readonly filter?: Filter;
  readonly attributes?: Filter;
  readonly constraints?: { readonly startIndex?: number; readonly count?: number };
  read(turn?: Turn): Promise<object>;
  write(body: Json, turn: Turn): Promise<object>;
  patch(body: Json, turn: Turn): Promise<object | undefined>;
  dispose(turn: Turn): Promise<void>;
}

interface ResourceClass {
  new (id?: string | Json, query?: Json): Resource;
  basepath(path: string): unknown;
  ingress(handler: (resource: Resource, instance: object, turn: Turn) => Promise<Json>): unknown;
  egress(handler: (resource: Resource, turn: Turn) => Promise<Json>): unknown;
  degress(handler: (resource: Resource, turn: Turn) => Promise<void>): unknown;
}

type Filter = InstanceType<typeof Types.Filter>;
type SchemaClass = new (data: Json, direction: 'out', basepath: string, attributes?: Filter) => object;

export const MAX_PAGE = 200;
/** Characters of a body, members apart: each value takes the library long. */
const MAX_BODY = 65_536;

type Named = 'Users' | 'Groups';

/** What one request has read and changed. */
interface Turn {
  readonly call: DirectoryCall;
  user?: DirectoryUser;
  group?: DirectoryGroup;
  /** What is made of the members of the group. */
  readonly change?: MemberChange | undefined;
  /** Uids of the members of the group as they were written. */
  members?: ReadonlySet<string>;
  /** Accounts that the change concerns. */
  accounts: readonly string[];
  /** The library tells of whatever it does not know as of a resource that is not there. */
  failure?: unknown;
}

// Nothing here takes passwords.
Schemas.User.definition.truncate('password');
Schemas.Group.definition.truncate('members.display');
// The library would let no value through that has a type.
for (const name of ['roles.type', 'x509Certificates.type']) {
  const { config } = Schemas.User.definition.attribute(name) as unknown as { readonly config: Json };
  config['canonicalValues'] = false;
}
Schemas.User.definition.extend(Schemas.EnterpriseUser.definition, false);
Config.set({
  patch: true,
  filter: { supported: true, maxResults: MAX_PAGE },
  bulk: false,
  changePassword: false,
  sort: false,
  etag: false,
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'The token of the directory, from the configuration of the control plane.',
    },
  ],
});

const KINDS = {
  Users: { resource: Resources.User as unknown as ResourceClass, schema: Schemas.User as unknown as SchemaClass },
  Groups: { resource: Resources.Group as unknown as ResourceClass, schema: Schemas.Group as unknown as SchemaClass },
} as const;

Resources.declare(Resources.User);
Resources.declare(Resources.Group);
serve('Users', {
  save: saveUser,
  read: readUser,
  remove: async (id, turn) => deleteDirectoryUser(turn.call, await requireUser(id, turn)),
});
serve('Groups', {
  save: saveGroup,
  read: readGroup,
  remove: async (id, turn) => deleteDirectoryGroup(turn.call, await requireGroup(id, turn)),
});

interface Handlers {
  readonly save: (id: string | undefined, instance: object, turn: Turn) => Promise<Json>;
  readonly read: (id: string | undefined, turn: Turn) => Promise<Json>;
  /** Returns the accounts that it concerns. */
  readonly remove: (id: string | undefined, turn: Turn) => Promise<readonly string[]>;
}

function serve(what: Named, { save, read, remove }: Handlers): void {
  const { resource } = KINDS[what];
  resource.basepath('');
  resource.ingress(({ id }, instance, turn) => telling(turn, () => save(id, instance, turn)));
  resource.egress(({ id }, turn) => telling(turn, () => read(id, turn)));
  resource.degress(({ id }, turn) =>
    telling(turn, async () => {
      turn.accounts = await remove(id, turn);
    }),
  );
}

/** Returns the description of what is served here, for discovery. */
export async function describe(
  what: 'Schemas' | 'ResourceTypes' | 'ServiceProviderConfig',
  id?: string,
): Promise<Json> {
  if (id !== undefined) requireId(id);
  const of = {
    Schemas: Resources.Schema,
    ResourceTypes: Resources.ResourceType,
    ServiceProviderConfig: Resources.ServiceProviderConfig,
  }[what];
  return plain(await new of(...(id === undefined ? [] : [id])).read());
}

/** @param query with `attributes` and `excludedAttributes` */
export async function readOne(what: Named, id: string, query: Json, call: DirectoryCall): Promise<Json> {
  const turn: Turn = { call, accounts: [] };
  if (what === 'Users') return represented(what, userJson(await requireUser(id, turn), await groupNames(call)), query);
  const group = await requireGroup(id, turn);
  return represented(what, withMembers(groupJson(group), uidsOf(await membersOf(group, call))), query);
}

/** A page of those that a filter finds (RFC 7644, section 3.4.2), of one sort or of both. */
export async function readList(sorts: readonly Named[], query: Json, call: DirectoryCall): Promise<Json> {
  const { filter, constraints = {} } = queried(sorts[0] ?? 'Users', query);
  const found: (readonly [Named, Json])[] = [];
  for (const what of sorts) {
    const of = what === 'Users' ? await usersBy(filter, call) : await groupsBy(filter, call);
    found.push(...of.map((one) => [what, one] as const));
  }
  const startIndex = constraints.startIndex ?? 1;
  const page = found.slice(startIndex - 1, startIndex - 1 + Math.min(constraints.count ?? MAX_PAGE, MAX_PAGE));
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: found.length,
    startIndex,
    itemsPerPage: page.length,
    Resources: page.map(([what, one]) => represented(what, one, query)),
  };
}

/** Creates one, or replaces the one with this id. */
export async function write(what: Named, id: string | undefined, body: Json, call: DirectoryCall): Promise<Json> {
  const { rest, change } = what === 'Groups' ? takeMembers(body) : { rest: body };
  const told = asStandard(harmless(rest));
  return inTurn(call, change, async (turn) => {
    const resource = id === undefined ? new KINDS[what].resource() : resourceOf(what, id);
    return answered(what, await resource.write(told, turn), turn);
  });
}

export async function patch(what: Named, id: string, body: Json, call: DirectoryCall): Promise<Json> {
  requirePatch(body);
  const { rest, change } = what === 'Groups' ? takeMemberOperations(body) : { rest: body };
  requireHarmlessOperations(rest);
  const told = asStandard(harmless(rest));
  const isOfMembersAlone = change && Array.isArray(rest['Operations']) && rest['Operations'].length === 0;
  return inTurn(call, change, async (turn) => {
    const resource = resourceOf(what, id);
    if (isOfMembersAlone) await saveGroup(id, await readGroup(id, turn), turn);
    // The library changes what it is given, and this may be another attempt.
    const changed = isOfMembersAlone ? undefined : await resource.patch(structuredClone(told), turn);
    // The library answers nothing where nothing changed.
    return answered(what, changed ?? (await resource.read(turn)), turn);
  });
}

export async function remove(what: Named, id: string, call: DirectoryCall): Promise<void> {
  await inTurn(call, undefined, (turn) => resourceOf(what, id).dispose(turn));
}

/** Changes are made one after the other, and each is carried out for accounts before it is answered. */
async function inTurn<T>(
  call: DirectoryCall,
  change: MemberChange | undefined,
  work: (turn: Turn) => Promise<T>,
): Promise<T> {
  const { answer, accounts } = await serialized(call.services.store, SYSTEM_WORKSPACE, () =>
    withTurn(call, change, async (turn) => ({ answer: await work(turn), accounts: turn.accounts })),
  );
  await followDirectory(call, accounts);
  return answer;
}

async function withTurn<T>(
  call: DirectoryCall,
  change: MemberChange | undefined,
  work: (turn: Turn) => Promise<T>,
): Promise<T> {
  const turn: Turn = { call, change, accounts: [] };
  try {
    return await work(turn);
  } catch (error) {
    throw turn.failure ?? error;
  }
}

async function telling<T>(turn: Turn, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    turn.failure = error;
    throw error;
  }
}

async function saveUser(id: string | undefined, instance: object, turn: Turn): Promise<Json> {
  const known = id === undefined ? undefined : (turn.user ?? (await requireUser(id, turn)));
  const { userName, externalId, schemas: _s, meta: _m, groups: _g, id: _i, ...attributes } = plain(instance);
  const entry = {
    userName: String(userName),
    ...(typeof externalId === 'string' && { externalId }),
    active: attributes['active'] !== false,
    attributes,
  };
  const { uid, accounts } = await saveDirectoryUser(turn.call, known, entry);
  turn.accounts = accounts;
  return userJson(await requireUser(uid, turn), await groupNames(turn.call));
}

async function saveGroup(id: string | undefined, instance: object, turn: Turn): Promise<Json> {
  const known = id === undefined ? undefined : (turn.group ?? (await requireGroup(id, turn)));
  const before = uidsOf(known ? await membersOf(known, turn.call) : []);
  const { displayName, externalId, schemas: _s, meta: _m, id: _i, ...attributes } = plain(instance);
  const after = turn.change?.(before) ?? before;
  const entry = {
    displayName: String(displayName),
    ...(typeof externalId === 'string' && { externalId }),
    attributes,
    joins: [...after.difference(before)],
    leaves: [...before.difference(after)],
  };
  const { uid, accounts } = await saveDirectoryGroup(turn.call, known, entry);
  turn.accounts = accounts;
  turn.members = after;
  return groupJson(await requireGroup(uid, turn));
}

async function readUser(id: string | undefined, turn: Turn): Promise<Json> {
  turn.user = await requireUser(id, turn);
  return userJson(turn.user, await groupNames(turn.call));
}

async function readGroup(id: string | undefined, turn: Turn): Promise<Json> {
  turn.group = await requireGroup(id, turn);
  return groupJson(turn.group);
}

async function usersBy(filter: Filter | undefined, call: DirectoryCall): Promise<Json[]> {
  const { services, rules } = call;
  const names = await groupNames(call);
  const json = (user: DirectoryUser) => userJson(user, names);
  const only = equality(filter);
  if (only?.name === 'userName' || only?.name === 'externalId') {
    const found = await services.store.lookup(directoryKey(rules.issuer, only.name, only.value), SYSTEM_WORKSPACE);
    return found?.kind === 'DirectoryUser' ? [json(found)] : [];
  }
  const all = (await directoryUsers(services, rules)).map(json);
  return filter ? matching(filter, all) : all;
}

async function groupsBy(filter: Filter | undefined, call: DirectoryCall): Promise<Json[]> {
  const { services, rules } = call;
  const only = equality(filter);
  const named = only?.name === 'displayName' ? only.value.toLowerCase() : undefined;
  const groups = await directoryGroups(services, rules);
  const asked = named === undefined ? groups : groups.filter(({ spec }) => spec.displayName.toLowerCase() === named);
  const members = Map.groupBy(
    (await directoryUsers(services, rules)).flatMap(({ uid, spec }) => spec.groups.map((group) => ({ uid, group }))),
    ({ group }) => group,
  );
  const all = asked.map((group) => withMembers(groupJson(group), uidsOf(members.get(group.uid) ?? [])));
  return filter && named === undefined ? matching(filter, all) : all;
}

/** @throws SCIMMY.Types.Error `invalidFilter` */
function matching(filter: Filter, all: readonly Json[]): Json[] {
  return all.filter((one) => {
    try {
      return filter.match([one]).length > 0;
    } catch (error) {
      // The library looks into parts that somebody does not have.
      if (error instanceof TypeError && error.message.includes('undefined or null')) return false;
      throw new Types.Error(400, 'invalidFilter', 'The filter compares what cannot be compared.');
    }
  });
}

/** The library fails in many ways on what it cannot read. @throws SCIMMY.Types.Error `invalidFilter` */
function readBy<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Types.Error) throw error;
    throw new Types.Error(400, 'invalidFilter', 'The filter, or a name of an attribute, is malformed.');
  }
}

/** A filter for one value of one attribute: what clients ask before they create anything. */
function equality(filter: Filter | undefined): { readonly name: string; readonly value: string } | undefined {
  const [only, ...others] = Object.entries((filter?.length === 1 && filter[0]) || {});
  if (!only || others.length > 0) return undefined;
  const [name, comparison] = only;
  if (!Array.isArray(comparison) || comparison.length !== 2) return undefined;
  const [operator, value] = comparison;
  return operator === 'eq' && typeof value === 'string' ? { name, value } : undefined;
}

async function membersOf({ uid }: DirectoryGroup, { services, rules }: DirectoryCall): Promise<DirectoryUser[]> {
  return (await directoryUsers(services, rules)).filter(({ spec }) => spec.groups.includes(uid));
}

async function groupNames({ services, rules }: DirectoryCall): Promise<ReadonlyMap<string, string>> {
  return new Map((await directoryGroups(services, rules)).map(({ uid, spec }) => [uid, spec.displayName]));
}

async function requireUser(id: string | undefined, { call: { services, rules } }: Turn): Promise<DirectoryUser> {
  const found = id === undefined ? undefined : await directoryUser(services, rules, id);
  if (!found) throw new Types.Error(404, null as unknown as string, `There is nobody ${id} in this directory.`);
  return found;
}

async function requireGroup(id: string | undefined, { call: { services, rules } }: Turn): Promise<DirectoryGroup> {
  const found = id === undefined ? undefined : await directoryGroup(services, rules, id);
  if (!found) throw new Types.Error(404, null as unknown as string, `There is no group ${id} in this directory.`);
  return found;
}

function userJson({ uid, createdAt, spec }: DirectoryUser, names: ReadonlyMap<string, string>): Json {
  const { userName, externalId, attributes, groups, changedAt } = spec;
  return {
    ...attributes,
    id: uid,
    ...(externalId !== undefined && { externalId }),
    userName,
    ...(groups.length > 0 && {
      groups: groups.map((value) => ({ value, display: names.get(value), type: 'direct' })),
    }),
    meta: metaOf(createdAt, changedAt),
  };
}

function groupJson({ uid, createdAt, spec }: DirectoryGroup): Json {
  const { displayName, externalId, attributes, changedAt } = spec;
  return {
    ...attributes,
    id: uid,
    ...(externalId !== undefined && { externalId }),
    displayName,
    meta: metaOf(createdAt, changedAt),
  };
}

/** The store says when a record was made, which is after it was written down here. */
function metaOf(createdAt: number, changedAt: number): Json {
  return { created: new Date(createdAt), lastModified: new Date(Math.max(createdAt, changedAt)) };
}

function uidsOf(users: readonly Pick<DirectoryUser, 'uid'>[]): ReadonlySet<string> {
  return new Set(users.map(({ uid }) => uid));
}

function withMembers(group: Json, members: ReadonlySet<string>): Json {
  return { ...group, members: [...members].map((value) => ({ value, type: 'User' })) };
}

function answered(what: Named, resource: object, { members }: Turn): Json {
  const json = shown(what, resource);
  return members ? withMembers(json, members) : json;
}

/** Returns a resource as a query asks for it. */
function represented(what: Named, json: Json, query: Json): Json {
  const { members } = json;
  // The library takes long for thousands of them: by one it tells whether they are asked for.
  const first = Array.isArray(members) ? { ...json, members: members.slice(0, 1) } : json;
  const { attributes } = queried(what, query);
  const answer = shown(
    what,
    readBy(() => new KINDS[what].schema(first, 'out', `/${what}`, attributes)),
  );
  return 'members' in answer ? { ...answer, members } : answer;
}

/** @throws SCIMMY.Types.Error `invalidFilter` */
function queried(what: Named, query: Json): Resource {
  for (const name of ['filter', 'attributes', 'excludedAttributes']) {
    const text = query[name];
    if (typeof text === 'string') requireHarmless(text, 'invalidFilter');
  }
  return readBy(() => new KINDS[what].resource(query));
}

function resourceOf(what: Named, id: string): Resource {
  requireId(id);
  return new KINDS[what].resource(id);
}

/** The library writes a filter of it. @throws SCIMMY.Types.Error 404 */
function requireId(id: string): void {
  if (!/^[\w:.-]{1,200}$/.test(id))
    throw new Types.Error(404, null as unknown as string, 'There is nothing with this id.');
}

/** @throws SCIMMY.Types.Error `invalidPath`, `tooMany` */
function harmless(body: Json): Json {
  if (JSON.stringify(body).length > MAX_BODY) {
    throw new Types.Error(413, null as unknown as string, `Send at most ${MAX_BODY} characters, members apart.`);
  }
  requireHarmlessNames(body);
  return body;
}

/** Takes what some clients write otherwise than the standard: booleans as texts, and the schema of a part. */
function asStandard(value: unknown, key = ''): Json {
  const isBoolean = key === 'active' || key === 'primary';
  if (typeof value === 'string' && isBoolean && ['true', 'false'].includes(value.toLowerCase())) {
    return (value.toLowerCase() === 'true') as unknown as Json;
  }
  if (Array.isArray(value)) return value.map((one) => asStandard(one, key)) as unknown as Json;
  if (typeof value !== 'object' || value === null) return value as Json;
  const path = 'path' in value && typeof value.path === 'string' ? value.path : undefined;
  // Of an extension within a value: the library knows it by its path.
  const isInner = key !== '';
  const entries = Object.entries(value).filter(([name]) => !(isInner && name === 'schemas'));
  return Object.fromEntries(
    entries.map(([name, one]) => [name, asStandard(one, name === 'value' && path ? path : name)]),
  );
}

/** The library leaves the schema out where some attributes are asked for. */
function shown(what: Named, resource: object): Json {
  return { schemas: [what === 'Users' ? Schemas.User.id : Schemas.Group.id], ...plain(resource) };
}

/** The library's objects hold more than their JSON. */
function plain(value: object): Json {
  return JSON.parse(JSON.stringify(value));
}
