import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { createConnection } from 'node:net';
import { formatHostPort, type HostPort } from '../../net/host-port.ts';
import { decodeXorAddress } from '../../net/stun/address.ts';
import { ATTRIBUTES, BINDING, decodeStun, encodeStun, TRANSACTION_ID_BYTES } from '../../net/stun/message.ts';
import { formatIp } from '../../platform/ip.ts';
import type { RelayPlace } from '../relay/relays.ts';

/** How the network that this machine is in treats it. */
export interface NetworkReport {
  readonly ipv4: Mapping;
  readonly ipv6: Mapping;
  readonly nat: NatKind;
  /** STUN servers of which no address answered, as host:port. */
  readonly silentStun: readonly string[];
  /** The nearest of those that are reached, else the first. */
  readonly relay: Reach;
  /** All of them, the first being that of nodes that know no other. */
  readonly relays: readonly RelayReach[];
  readonly bus: Reach;
  readonly api: Reach;
  /** Names of them that have no address here, each with the reason. */
  readonly unresolved: readonly { readonly host: string; readonly trouble: string }[];
}

export interface Mapping {
  /** Public address and port as a STUN server saw them; null without an answer. */
  readonly address: string | null;
  readonly roundTripMs: number | null;
}

/**
 * `none`: the address is this machine's own. `easy`: the same to every server. `hard`: another to each. `unknown`: there
 * was one server only, or no answer; with one server a kept port speaks for `easy`.
 */
export interface NatKind {
  readonly kind: 'none' | 'easy' | 'hard' | 'unknown';
  readonly detail: string;
}

export interface Reach {
  /** host:port; null where there is none. */
  readonly address: string | null;
  readonly isReached: boolean;
  readonly roundTripMs: number | null;
  /** Empty when reached. */
  readonly trouble: string;
}

export interface RelayReach extends Reach {
  readonly name: string;
  readonly region: string | null;
}

/** Seen through one STUN server. */
export interface MappedAddress {
  readonly server: string;
  readonly address: string;
  readonly port: number;
  readonly roundTripMs: number;
}

const TRIES_MS = [300, 600, 1_200];
const CONNECT_MS = 3_000;
const LOOKUP_MS = 3_000;

/** Outcome of asking STUN servers from one socket. */
export interface StunAnswers {
  readonly localPort: number;
  readonly sights: readonly MappedAddress[];
  /** Servers of which an address answered. */
  readonly answered: ReadonlySet<HostPort>;
}

/** Asks every address of every server from one socket, so that the answers can be compared. */
export async function askStun(servers: readonly HostPort[], family: 4 | 6, names = new Names()): Promise<StunAnswers> {
  const socket = createSocket({ type: family === 4 ? 'udp4' : 'udp6', ipv6Only: family === 6 });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.bind(0, resolve);
    });
    socket.on('error', () => {});
    const all = await Promise.all(
      servers.map(async (server) => {
        const { found } = await names.of(server.host);
        const places = found
          .filter((each) => each.family === family)
          .map(({ address }) => ({ host: address, port: server.port }));
        const sights = await Promise.all(places.map((place) => ask(socket, place)));
        return { server, sights: sights.filter((sight) => sight !== undefined) };
      }),
    );
    const answering = all.filter(({ sights }) => sights.length > 0);
    return {
      localPort: socket.address().port,
      sights: answering.flatMap(({ sights }) => sights),
      answered: new Set(answering.map(({ server }) => server)),
    };
  } catch {
    return { localPort: 0, sights: [], answered: new Set() };
  } finally {
    socket.close();
  }
}

/** Addresses of a name, or why there are none. */
export interface Addresses {
  readonly found: readonly LookupAddress[];
  /** Empty where there are some. */
  readonly trouble: string;
}

type Lookup = (host: string, options: { readonly all: true }) => Promise<LookupAddress[]>;

/** Looks each name up once, for all who ask: a resolver that is away holds up one lookup after the other for many seconds. */
export class Names {
  readonly #lookup: Lookup;
  readonly #byHost = new Map<string, Promise<Addresses>>();
  #pending = 0;

  constructor(look: Lookup = lookup) {
    this.#lookup = look;
  }

  /** A lookup goes on that nobody waits for any more, and that keeps the process from ending. */
  get isLate(): boolean {
    return this.#pending > 0;
  }

  of(host: string): Promise<Addresses> {
    const known = this.#byHost.get(host) ?? this.#find(host);
    this.#byHost.set(host, known);
    return known;
  }

  /** Returns the names that were asked for and have no address. */
  async unresolved(): Promise<NetworkReport['unresolved']> {
    const all = await Promise.all([...this.#byHost].map(async ([host, found]) => ({ host, ...(await found) })));
    return all.flatMap(({ host, trouble }) => (trouble === '' ? [] : [{ host, trouble }]));
  }

  async #find(host: string): Promise<Addresses> {
    const { promise: late, resolve } = Promise.withResolvers<Addresses>();
    const timer = setTimeout(() => resolve({ found: [], trouble: DNS_AWAY }), LOOKUP_MS);
    this.#pending += 1;
    const asked = this.#lookup(host, { all: true })
      .then(
        (found) => ({ found, trouble: '' }),
        ({ code, message }: NodeJS.ErrnoException) => ({ found: [], trouble: dnsText(code ?? message) }),
      )
      .finally(() => {
        this.#pending -= 1;
      });
    const first = await Promise.race([asked, late]);
    clearTimeout(timer);
    return first;
  }
}

/** The same whether the resolver of the host or this program gave up first. */
const DNS_AWAY = 'no DNS server answers';

function dnsText(code: string): string {
  if (code === 'ENOTFOUND') return 'DNS knows no such name';
  return code === 'EAI_AGAIN' ? DNS_AWAY : `DNS: ${code}`;
}

function ask(socket: Socket, { host, port }: HostPort): Promise<MappedAddress | undefined> {
  const transactionId = Uint8Array.from(randomBytes(TRANSACTION_ID_BYTES));
  const request = encodeStun({ class: 'request', method: BINDING, transactionId, attributes: [] });
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout;
    let sentAt = 0;
    const done = (sight: MappedAddress | undefined) => {
      clearTimeout(timer);
      socket.off('message', take);
      resolve(sight);
    };
    const take = (bytes: Uint8Array) => {
      const message = decodeStun(bytes);
      if (message?.class !== 'success' || Buffer.compare(message.transactionId, transactionId) !== 0) return;
      const value = message.attributes.find(({ type }) => type === ATTRIBUTES.xorMappedAddress)?.value;
      const mapped = value && decodeXorAddress(value, transactionId);
      if (!mapped) return;
      const roundTripMs = Math.round((performance.now() - sentAt) * 10) / 10;
      done({ server: `${host} ${port}`, address: formatIp(mapped.ip), port: mapped.port, roundTripMs });
    };
    const send = (at: number) => {
      const waitMs = TRIES_MS[at];
      if (waitMs === undefined) return done(undefined);
      sentAt = performance.now();
      socket.send(request, port, host, () => {});
      timer = setTimeout(() => send(at + 1), waitMs);
    };
    socket.on('message', take);
    send(0);
  });
}

/** Returns the kind of NAT that the answers to one socket imply. */
export function natKindOf(
  { localPort, sights }: Pick<StunAnswers, 'localPort' | 'sights'>,
  ownAddresses: ReadonlySet<string>,
): NatKind {
  const [first] = sights;
  if (!first) return { kind: 'unknown', detail: 'No STUN server answered: UDP may be blocked.' };
  if (ownAddresses.has(first.address)) return { kind: 'none', detail: 'This machine has a public address of its own.' };
  const mappings = new Set(sights.map(({ address, port }) => `${address} ${port}`));
  if (mappings.size > 1) return { kind: 'hard', detail: `${mappingName(sights)}: direct paths need an easy peer.` };
  if (sights.length > 1) {
    const detail = 'Endpoint-independent mapping (RFC 4787): every server saw the same port, direct paths are likely.';
    return { kind: 'easy', detail };
  }
  return first.port === localPort
    ? { kind: 'easy', detail: 'The NAT kept the port; only one STUN server answered.' }
    : { kind: 'unknown', detail: 'The NAT changed the port; a second STUN server would tell easy from hard.' };
}

/** How the mapping depends on where a packet goes (RFC 4787, 4.1): on the address alone where ports of one address see the same. */
function mappingName(sights: readonly MappedAddress[]): string {
  const byAddress = Map.groupBy(sights, ({ server }) => server.split(' ')[0] ?? '');
  const seen = [...byAddress.values()].map((some) => new Set(some.map(({ address, port }) => `${address} ${port}`)));
  if (seen.some(({ size }) => size > 1))
    return 'Address- and port-dependent mapping (RFC 4787): each server saw another port';
  const isTold = [...byAddress.values()].some((some) => some.length > 1);
  const name = isTold ? 'Address-dependent mapping' : 'Mapping that depends on the destination';
  return `${name} (RFC 4787): each server saw another port`;
}

/** How each of these relays is reached. */
export function reachAll(relays: readonly RelayPlace[], names = new Names()): Promise<RelayReach[]> {
  return Promise.all(
    relays.map(async ({ name, region, address }) => ({
      name,
      region: region ?? null,
      ...(await reach(address, names)),
    })),
  );
}

/** Tells whether a TCP port answers, and how fast. */
export async function reach({ host, port }: HostPort, names = new Names()): Promise<Reach> {
  const address = formatHostPort(host, port);
  const { found, trouble: unresolved } = await names.of(host);
  const [first] = found;
  if (!first) return { address, isReached: false, roundTripMs: null, trouble: unresolved };
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const socket = createConnection({
      host,
      port,
      timeout: CONNECT_MS,
      lookup: (_host, { all }, done) => (all ? done(null, [...found]) : done(null, first.address, first.family)),
    });
    const end = (trouble: string) => {
      socket.destroy();
      const roundTripMs = Math.round((performance.now() - startedAt) * 10) / 10;
      resolve({ address, isReached: trouble === '', roundTripMs: trouble === '' ? roundTripMs : null, trouble });
    };
    socket.once('connect', () => end(''));
    socket.once('timeout', () => end(`no answer within ${CONNECT_MS / 1_000} s`));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}
