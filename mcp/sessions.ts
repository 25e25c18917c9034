import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Server } from '@modelcontextprotocol/server';
import { type MeshError, toProblem } from '../core/base/errors.ts';
import type { Clock, Log } from '../core/base/ports.ts';
import type { QuotaKey } from '../core/base/quotas.ts';
import type { SharedState } from '../core/base/shared.ts';
import type { UriWatcher } from './server.ts';
import { clientOf, type SessionTransport, sessionTransport } from './session-transport.ts';
import { buildSharedSessions, type SharedSession, STREAM_TOUCH_MS } from './shared-sessions.ts';
import type { AuthenticatedRequest } from './web-exchange.ts';

export interface SessionLimits {
  /** Sessions of all control planes together. */
  readonly maxSessions?: number;
  /** A session that nobody used for so long ends. */
  readonly idleMs?: number;
}

const MAX_SESSIONS = 2_000;
const IDLE_MS = 30 * 60_000;
/** Before subscribers are looked up again where the store did not answer. */
const RETRY_MS = 1_000;

/** A session as this process has it; another control plane may have it too. */
export interface Session {
  readonly id: string;
  readonly transport: SessionTransport;
  readonly server: Server;
  /** The event stream that is open here. */
  stream: string | undefined;
  usedAt: number;
  /** Requests and streams under way; such a session is not idle. */
  active: number;
  /** Calls among them, which are answered before a stop ends the session. */
  calls: number;
  /** Given back when the session ends here. */
  readonly holds: DisposableStack;
}

export interface SessionsOptions {
  readonly limits: SessionLimits;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  /** Where several control planes keep sessions together. */
  readonly shared: Pick<SharedState, 'cells'> | undefined;
  build(watching: UriWatcher): Server;
  /** Called for each that is here from now on, with the request that brought it. */
  begun(session: Session, request: AuthenticatedRequest): void;
}

export interface SessionRequest {
  readonly tokenId: string;
  readonly keys: readonly QuotaKey[];
  readonly body: unknown;
}

export interface Sessions {
  /** Undefined for an unknown session, or one of another credential. One that another control plane opened is taken up. */
  find(id: string, tokenId: string, request: AuthenticatedRequest): Promise<Session | undefined>;
  /** A session that is listed once its client has initialized it. @throws MeshError `rate_limited` */
  open(opening: SessionRequest, request: AuthenticatedRequest): Promise<Session>;
  /** @returns false, with nothing sent, where it has ended here meanwhile: it may go on if it is found again */
  handle(session: Session, request: AuthenticatedRequest, response: ServerResponse, body: unknown): Promise<boolean>;
  watchedBy(session: Session): Promise<readonly string[]>;
  unwatch(session: Session, uri: string): Promise<void>;
  /** Tells each session that watches one of these, and has its stream here. */
  notify(uris: ReadonlySet<string>): void;
  /** The number of sessions on this control plane. */
  readonly size: number;
  /** Ends one on all control planes, and tells its client why. */
  end(session: Session, reason?: MeshError): void;
  /** Ends one here alone: its client goes on elsewhere. */
  leave(session: Session, reason: MeshError): void;
  /** Ends one that its client has not initialized. */
  endUnlisted(session: Session): void;
  endAll(): void;
  close(): void;
}

/** Sessions of the 2025 era: shared out, tied to the credential that opened them, ended when idle. */
export function createSessions({ limits, clock, log, shared, build, begun }: SessionsOptions): Sessions {
  const { maxSessions = MAX_SESSIONS, idleMs = IDLE_MS } = limits;
  const kept = buildSharedSessions({ clock, shared, maxSessions, idleMs });
  const sessions = new Map<string, Session>();
  const takenUp = new Map<string, Promise<Session>>();
  const changed = new Set<string>();
  let isTelling = false;
  let closed = false;
  const sweep = setInterval(() => void sweepAll().catch(warn), Math.min(idleMs, STREAM_TOUCH_MS));
  sweep.unref();

  function warn(error: unknown): void {
    if (!closed) log.warn({ err: error }, 'what is known of MCP sessions may be old');
  }

  async function make(id: string, request: AuthenticatedRequest): Promise<Session> {
    const server = build({ watch: (uri) => kept.watch(id, uri), unwatch: (uri) => kept.unwatch(id, uri) });
    const transport = await sessionTransport({
      id,
      server,
      isOver: () => session.holds.disposed,
      initialized: () => void sessions.set(id, session),
      async deleted() {
        await kept.end(id);
        close(session);
      },
    });
    const holds = new DisposableStack();
    const session: Session = {
      id,
      transport,
      server,
      stream: undefined,
      usedAt: clock.now(),
      active: 0,
      calls: 0,
      holds,
    };
    begun(session, request);
    return session;
  }

  function takeUp(id: string, { client }: SharedSession, request: AuthenticatedRequest): Promise<Session> {
    const known = takenUp.get(id);
    if (known) return known;
    const made = make(id, request).then(async (session) => {
      await session.transport.initializeAgain(client);
      return session;
    });
    takenUp.set(id, made);
    const done = () => void takenUp.delete(id);
    made.then(done, done);
    return made;
  }

  function close(session: Session, reason?: MeshError): void {
    if (sessions.get(session.id) === session) sessions.delete(session.id);
    session.holds.dispose();
    void notifyAndClose(session, reason);
  }

  function end(session: Session, reason?: MeshError): void {
    close(session, reason);
    kept.end(session.id).catch(warn);
  }

  async function openStream(session: Session): Promise<() => void> {
    const { id } = session;
    const stream = randomUUID();
    await kept.stream(id, stream);
    session.stream = stream;
    return () => {
      session.stream = undefined;
      kept.streamEnded(id, stream).catch(warn);
    };
  }

  /** Ends here what is over elsewhere, or was not used here for long. */
  async function sweepAll(): Promise<void> {
    const known = await kept.of([...sessions.keys()]);
    for (const session of sessions.values()) {
      const { id, stream, active, calls } = session;
      if (stream !== undefined && known.has(id)) await kept.stream(id, stream, { goesOn: true });
      const isOver = known.has(id) ? active === 0 && clock.now() - session.usedAt > idleMs : calls === 0;
      if (isOver) close(session);
    }
  }

  /** All that changed meanwhile is told in one go. */
  async function tellAll(): Promise<void> {
    isTelling = true;
    while (changed.size > 0 && !closed) {
      const uris = new Set(changed);
      changed.clear();
      const here = [...sessions.values()].filter(({ stream }) => stream !== undefined);
      try {
        const known = here.length === 0 ? new Map<string, SharedSession>() : await kept.of(here.map(({ id }) => id));
        for (const session of here) notifySession(session, known.get(session.id), (uri) => uris.has(uri));
      } catch (error) {
        warn(error);
        for (const uri of uris) changed.add(uri);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
    isTelling = false;
  }

  return {
    async find(id, tokenId, request) {
      const known = await kept.use(id, tokenId);
      const here = sessions.get(id);
      if (!known) return undefined;
      const session = here ?? (await takeUp(id, known, request));
      session.usedAt = clock.now();
      return session;
    },
    async open({ tokenId, keys, body }, request) {
      const id = randomUUID();
      const gaveWay = await kept.open(id, { tokenId, client: clientOf(body) }, keys);
      const one = gaveWay === undefined ? undefined : sessions.get(gaveWay);
      if (one) close(one);
      return make(id, request);
    },
    async handle(session, request, response, body) {
      // The transport refuses a second stream beside the one that is open here.
      const opens = request.method === 'GET' && session.stream === undefined;
      if (opens) response.once('close', await openStream(session));
      return session.transport.handle(request, response, body, () => {
        // Reports all watched resources, so that the client reads again and misses no change from the time without a stream.
        if (opens) void kept.of([session.id]).then((known) => notifySession(session, known.get(session.id)), warn);
      });
    },
    watchedBy: async ({ id }) => (await kept.of([id])).get(id)?.watched ?? [],
    unwatch: ({ id }, uri) => kept.unwatch(id, uri),
    notify(uris) {
      for (const uri of uris) changed.add(uri);
      if (!isTelling) void tellAll();
    },
    get size() {
      return sessions.size;
    },
    end,
    leave: close,
    endUnlisted(session) {
      if (sessions.get(session.id) !== session) end(session);
    },
    endAll() {
      for (const session of sessions.values()) end(session);
    },
    close() {
      closed = true;
      clearInterval(sweep);
      for (const session of sessions.values()) close(session);
    },
  };
}

/** Notifies a session of the watched resources that match, unless another stream of the session is the one to notify. */
function notifySession(
  { server, stream }: Session,
  known: SharedSession | undefined,
  isMeant: (uri: string) => boolean = () => true,
): void {
  if (!known || known.stream !== stream) return;
  for (const uri of known.watched.filter(isMeant)) server.sendResourceUpdated({ uri }).catch(() => undefined);
}

async function notifyAndClose({ server }: Session, reason: MeshError | undefined): Promise<void> {
  try {
    if (reason) await server.sendLoggingMessage({ level: 'warning', logger: 'mesh', data: toProblem(reason) });
  } catch {
    // Nobody listens.
  }
  await server.close().catch(() => undefined);
}
