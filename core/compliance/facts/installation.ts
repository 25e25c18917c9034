import { SYSTEM_WORKSPACE } from '../../base/ids.ts';
import { isLoopback } from '../../base/loopback.ts';
import { formatInstant, hasEnded } from '../../base/time.ts';
import type { AccountRecord } from '../../identity/accounts.ts';
import { roleOf } from '../../identity/members.ts';
import { parseAddress } from '../../model/cidr.ts';
import { publicPartOf } from '../../model/public-addresses.ts';
import type { ListensBus } from '../../model/services.ts';
import { workspaceById } from '../../model/workspaces.ts';
import { counted, listed } from '../check-result.ts';
import { type Fact, type FactContext, fails, holds, unknown } from './fact.ts';

const DAY_MS = 86_400_000;
/** Keys of the installation are to be renewed within so long, as those of peers. */
const KEY_DAYS = 365;

/** The facts about the control plane itself and the setup of the workspace. */
export const INSTALLATION_FACTS = {
  async 'first-password'(context: FactContext) {
    const people = (await workspaceAccounts(context)).filter(({ spec }) => !spec.disabled);
    if (people.length === 0)
      return unknown('No account of this workspace is known.', 'A platform administrator signs in.');
    const others = people.filter(({ spec }) => spec.passwordState !== 'own');
    const whom = counted(people.length, 'account');
    if (others.length === 0)
      return holds(`Of ${whom} of members and platform administrators each has a password that its person chose.`);
    return fails(
      `Of ${whom} of members and platform administrators ${others.length} ${others.length === 1 ? 'has' : 'have'} a password that somebody else set.`,
      'A platform administrator finds out whose (mesh admin list-users), and these people change it (mesh passwd) or the accounts are disabled.',
    );
  },

  async 'bus-exposure'({ services }: FactContext) {
    const { bus } = services.settings.listens;
    const remedy =
      'The host administrator sets MESH_SIGNALING_AUTH=token with MESH_TLS_CERT, or binds MESH_BUS_LISTEN to an address that nodes alone reach and keeps the firewall rule as evidence.';
    if (!bus) return unknown('The bus is served by another process, of which nothing is known here.', remedy);
    if (bus.isElsewhere) return externalBus(bus);
    const where = `The bus listens on ${bus.host}`;
    if (isLoopback(bus.host)) return holds(`${where}: it is reached from this host alone.`);
    if (bus.auth === 'token' && bus.tls) return holds(`${where}, over TLS, and takes nobody in without a credential.`);
    const lacks =
      bus.auth === 'token' ? 'takes credentials in clear, without TLS' : 'takes everybody in without a credential';
    if (!isPrivate(bus.host))
      return fails(`${where} and ${lacks}; whether a firewall restricts it is not seen.`, remedy);
    return unknown(`${where}, an address of a private network, and ${lacks}; who reaches it is not seen.`, remedy);
  },

  async 'admin-tls'({ services }: FactContext) {
    const { apiUrl, listens } = services.settings;
    const remedy =
      'The host administrator sets MESH_TLS_CERT and MESH_TLS_KEY, or puts a TLS proxy in front, names it in app.publicUrls, and lets MESH_LISTEN be an address that it alone reaches.';
    if (!apiUrl.startsWith('https:'))
      return fails('The address of the API that is given out is an http address.', remedy);
    const given = 'The address of the API that is given out is an https address';
    if (listens.api.tls) return holds(`${given}, and the API speaks TLS alone.`);
    if (isLoopback(listens.api.host)) return holds(`${given}, and what is behind it is reached from this host alone.`);
    return unknown(
      `${given}; the API listens on ${listens.api.host} without TLS besides, and who reaches that is not seen.`,
      remedy,
    );
  },

  async 'two-person-approval'({ services, workspace }: FactContext) {
    const { settings } = (await workspaceById(services, workspace)).spec;
    const gaps = [
      ...(settings.requireApproval ? [] : ['direct writes wait for nobody (requireApproval is false)']),
      ...(settings.selfApproval ? ['people may approve what they asked for (selfApproval is true)'] : []),
      ...(settings.autoApprove
        ? [`plans up to risk ${settings.autoApprove.maxRisk} wait for nobody (autoApprove)`]
        : []),
    ];
    if (gaps.length === 0)
      return holds('Every change waits for a second person; while there is a single approver, for that one.');
    return fails(
      `${listed(gaps)}.`.replace(/^./, (first) => first.toUpperCase()),
      'An administrator sets requireApproval to true and selfApproval to false, and unsets autoApprove (update_workspace).',
    );
  },

  async 'installation-keys'({ services }: FactContext) {
    const now = services.clock.now();
    const { items } = await services.store.list(SYSTEM_WORKSPACE, 'Workspace');
    const { logKeySince } = services.settings;
    // The control key is as old as the installation; its oldest workspace says at least how old that is.
    const controlKeySince = Math.min(logKeySince, ...items.map(({ createdAt }) => createdAt));
    const told = `The key that signs the audit logs is in use since ${formatInstant(logKeySince)}, the control key since ${formatInstant(controlKeySince)} or before`;
    const old = [
      ...(now - logKeySince > KEY_DAYS * DAY_MS ? ['the key of the audit logs'] : []),
      ...(now - controlKeySince > KEY_DAYS * DAY_MS ? ['the control key'] : []),
    ];
    if (old.length === 0) {
      return unknown(
        `${told}: of when it was made no record is kept.`,
        `The host administrator keeps a record of when credentials.json was made, and renews its keys each ${KEY_DAYS} days.`,
      );
    }
    return fails(
      `${told}: ${listed(old)} ${old.length === 1 ? 'is' : 'are'} older than ${KEY_DAYS} days.`,
      'The host administrator renews the key of the audit logs, and plans a new installation for a new control key: every node joins again then.',
    );
  },

  async 'access-ended'(context: FactContext) {
    const { services, workspace } = context;
    const [tokens, agents, people] = await Promise.all([
      services.store.list(workspace, 'Token'),
      services.store.list(workspace, 'AgentIdentity'),
      workspaceAccounts(context),
    ]);
    const here = new Set(people.filter(({ spec }) => !spec.disabled).map(({ uid }) => uid));
    const now = services.clock.now();
    const owned = tokens.items.filter(({ spec }) => spec.kind === 'api' && !hasEnded(spec, now));
    const live = agents.items.filter(({ status }) => status.phase === 'Active' || status.phase === 'Pending');
    const roots = live.filter(({ spec }) => spec.person !== undefined);
    if (owned.length + roots.length === 0)
      return unknown('There are no API tokens and no agents of people.', 'Nothing is to be done now.');
    const left = [
      ...owned.filter(({ spec }) => !here.has(spec.owner)).map(({ uid, spec }) => `token ${spec.name} (${uid})`),
      ...roots.filter(({ spec }) => !here.has(spec.person?.id ?? '')).map(({ name, uid }) => `agent ${name} (${uid})`),
    ];
    const whole = `${counted(owned.length, 'API token')} and ${counted(roots.length, 'agent')} of people`;
    if (left.length === 0) return holds(`${whole}, each of somebody who still belongs to the workspace.`);
    return fails(
      `${whole}, of which these are of people who left: ${listed(left)}.`,
      'An administrator revokes these tokens and agents (revoke_api_token, revoke_agent).',
    );
  },
} as const satisfies Readonly<Record<string, (context: FactContext) => Promise<Fact>>>;

/** Returns the accounts with access to this workspace: its members and the platform administrators. */
async function workspaceAccounts({ services, workspace }: FactContext): Promise<AccountRecord[]> {
  const [accounts, members] = await Promise.all([
    services.store.list(SYSTEM_WORKSPACE, 'Account'),
    services.store.list(workspace, 'Member'),
  ]);
  const names = new Set(members.items.map(({ name }) => name));
  const found: AccountRecord[] = [];
  for (const account of accounts.items) {
    const isMember = names.has(account.name) && (await roleOf(services, workspace, account)) !== undefined;
    if (isMember || account.spec.role === 'platform_admin') found.push(account);
  }
  return found;
}

/** Judges a bus that others run by its configuration alone. With `auth` other than `none`, it admits nobody without a key. */
function externalBus({ host, auth, tls }: ListensBus): Fact {
  const where = `The bus is at ${host}, which others run`;
  const remedy =
    'The host administrator has the servers let in registered nodes alone (meshd bus-config, MESH_SIGNALING_AUTH=token) and names them with tls:// in MESH_BUS_URL, or keeps the rules of the servers and of the firewall before them as evidence.';
  if (auth === 'none') return unknown(`${where}; whom its servers take in is not seen.`, remedy);
  if (!tls)
    return fails(`${where}: it takes nobody in who proves no key, and is reached in clear, without TLS.`, remedy);
  return holds(`${where}, is reached over TLS, and takes nobody in who proves no key.`);
}

/** An address that is not routed everywhere; `0.0.0.0` and names are not known to be one. */
function isPrivate(host: string): boolean {
  const address = parseAddress(host.replaceAll(/[[\]]/g, ''));
  return address !== undefined && address.from !== 0n && publicPartOf([address]).length === 0;
}
