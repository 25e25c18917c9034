import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { type Answer, answering } from './answer.ts';
import { echoOf, type LargePackets, largePackets, lossText } from './echo.ts';
import { CliError, EXIT } from './exit.ts';
import { hostFirewallLines } from './host-firewall.ts';
import { inLocalTime } from './local-time.ts';
import { blockedText } from './node-blocked.ts';
import { HINTS } from './node-hints.ts';
import { runnable } from './own-command.ts';
import { isOwn, type OwnNode, ownNode } from './own-node.ts';
import { isNamed, ownVerdict } from './own-verdict.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';
import { variable } from './variable.ts';
import { callInWorkspace } from './workspace.ts';

interface WhyOptions extends TargetOptions {
  readonly configDir?: string;
  readonly protocol?: string;
  readonly port?: number;
}

interface Pair {
  readonly from: string;
  readonly to: string;
}

const PROTOCOLS = ['TCP', 'UDP', 'SCTP', 'ICMP'] as const;

const explanationSchema = z.object({
  denied: z.boolean(),
  explanation: z.string(),
  allowed: z.unknown(),
  valid_from: z.string().nullish(),
});
type Verdict = z.infer<typeof explanationSchema>;
const pathSchema = z.object({
  name: z.string(),
  transport: z.string(),
  path: z.string().nullable(),
  reason: z.string(),
  since: z.string().nullable(),
});
type ReportedPath = z.infer<typeof pathSchema>;

/** `mesh why A B`: whether policy lets A reach B, and by which path the packets go. */
export function defineWhy(command: Command): void {
  answering(
    withTarget(command)
      .argument('<from>', 'peer that opens the connection: name or id')
      .argument('<to>', 'peer it is opened to: name or id')
      .addOption(new Option('--protocol <protocol>', PROTOCOLS.join(', ')).argParser(protocolOf))
      .option('--port <port>', 'port of the connection', portOf)
      .option('--config-dir <dir>', 'of the node of this machine (~/.mesh)'),
    async (from: string, to: string, options: WhyOptions) => why({ from, to }, options),
  );
}

async function why(pair: Pair, options: WhyOptions): Promise<Answer> {
  const own = await ownNode(options.configDir);
  const target = { ...options, ...serverOfNode(options, own) };
  try {
    const [policy, path, back] = [
      await policyOf(pair, target),
      (await pathOf(pair, target, own)) ?? null,
      (await pathOf(turned(pair), target, own)) ?? null,
    ];
    return await answerOf(pair, own, { policy, path, back, unknown: [] });
  } catch (error) {
    if (!(error instanceof CliError) || !isWithoutPlane(error) || !isOfItsPlane(target, own)) throw error;
    if (!isOwn(own, pair.from) && !isOwn(own, pair.to)) throw notOwnNodeError(pair, own, error);
    return answerOf(pair, own, withoutPlane(pair, options, own, error));
  }
}

/** Nobody is signed in, or the control plane does not answer: a node knows what it was told of itself. */
function isWithoutPlane({ exitCode }: CliError): boolean {
  return exitCode === EXIT.auth || exitCode === EXIT.unavailable;
}

/** Another one that is named has another network. */
function isOfItsPlane(target: TargetOptions, { config }: OwnNode): boolean {
  return config !== undefined && URL.parse(targetOf(target).server)?.origin === URL.parse(config.server)?.origin;
}

interface PairFacts {
  readonly policy: Verdict | null;
  readonly path: ReportedPath | null;
  readonly back: ReportedPath | null;
  /** Sentences on facts that only the control plane knows. */
  readonly unknown: readonly string[];
}

/** @throws CliError where the graph of this node has no such peer */
function withoutPlane(pair: Pair, { protocol, port }: WhyOptions, own: OwnNode, error: CliError): PairFacts {
  const isFromSelf = isOwn(own, pair.from);
  const other = isFromSelf ? pair.to : pair.from;
  const rest = `How ${other} reaches this node, the control plane knows`;
  const unknown = [`${rest}. ${remedyOf(own, error)}`];
  const isShutOut = own.status !== undefined && blockedText(own.status) !== undefined;
  if (isShutOut) return { policy: null, path: null, back: null, unknown: [] };
  if (!own.graph) throw new CliError(`This node was told of no network yet. ${remedyOf(own, error)}`, error.exitCode);
  const policy = ownVerdict(own.graph, { ...pair, protocol, port, now: Date.now() });
  if (!policy) {
    throw new CliError(
      `The graph of this node, version ${own.graph.version}, has no peer ${other}: no policy lets the two talk, or there is none ` +
        `of that name, which a node is not told. ${remedyOf(own, error)}`,
      EXIT.notFound,
    );
  }
  const path = ownPath(own, other) ?? null;
  return { policy, path: isFromSelf ? path : null, back: isFromSelf ? null : path, unknown };
}

function notOwnNodeError({ from, to }: Pair, own: OwnNode, error: CliError): CliError {
  return new CliError(
    `${own.config?.name} knows of pairs that it is one of, and of none between ${from} and ${to}. ${remedyOf(own, error)}`,
    error.exitCode,
  );
}

function remedyOf({ config, status }: OwnNode, { exitCode, message }: CliError): string {
  if (exitCode === EXIT.unavailable) return message;
  const away = status?.control.trouble;
  if (away) return `${away}. Once it is back, sign in to it: ${HINTS.login({ server: config?.server })}`;
  return `Sign in to the control plane: ${HINTS.login({ server: config?.server })}`;
}

async function answerOf(pair: Pair, own: OwnNode, { policy, path, back, unknown }: PairFacts): Promise<Answer> {
  const { from, to } = pair;
  const { status } = own;
  const shutOut = status && (isOwn(own, from) || isOwn(own, to)) ? blockedText(status, own.directory) : undefined;
  const host = isOwn(own, to) ? status?.firewall : undefined;
  const hostLines = host ? hostFirewallLines(host, own.directory) : [];
  const blocked = host?.blocked ?? [];
  const large = await largeFrom(pair, own);
  const isOnePeer = from.toLowerCase() === to.toLowerCase();
  const isAsked = unknown.length === 0 && shutOut === undefined;
  const text = [
    ...(shutOut === undefined ? [] : [shutOut]),
    ...(policy ? [policy.explanation, ...sinceText(policy)] : []),
    ...(isOnePeer ? [] : pathTexts(pair, own, { path, back, isAsked })),
    ...hostLines.map((line) => `The firewall of ${to}'s own host: ${line}`),
    ...(large?.isLost ? [lossText(to, large)] : []),
    ...unknown.map(runnable),
  ];
  const isNegative = shutOut !== undefined || policy?.denied || blocked.length > 0 || large?.isLost;
  return {
    value: { from, to, policy, path, back, blocked, large: large ?? null },
    text: text.map((line) => inLocalTime(line)),
    ...(isNegative && { exitCode: EXIT.negative }),
  };
}

/** Nothing from a control plane of an earlier version, or from the graph of this node. */
function sinceText({ valid_from: from }: Verdict): string[] {
  return from ? [`Since ${from}.`] : [];
}

/** A node belongs to one control plane: that is asked unless another is named. */
function serverOfNode({ server }: WhyOptions, { config }: OwnNode): { readonly server?: string } {
  if (server !== undefined || variable('MESH_SERVER') !== undefined || !config) return {};
  return { server: config.server };
}

/** Tests whether large packets arrive, where this node is the sender. */
async function largeFrom({ from, to }: Pair, own: OwnNode): Promise<LargePackets | undefined> {
  const peer = isOwn(own, from) ? peerOf(own, to) : undefined;
  const send = echoOf(own.directory, own.status);
  if (!peer?.path || (await send(peer.address)) === null) return undefined;
  return largePackets(peer.address, send);
}

async function policyOf({ from, to }: Pair, options: WhyOptions): Promise<Verdict> {
  const query = new URLSearchParams({ src: from, dst: to });
  if (options.protocol) query.set('protocol', options.protocol);
  if (options.port) query.set('port', `${options.port}`);
  const path = `/api/v1/connectivity/explain?${query}`;
  return explanationSchema.parse(await callInWorkspace(targetOf(options), { method: 'get', path }));
}

/** By this node itself when it is the one that opens, else as that node reported it to the control plane. */
async function pathOf({ from, to }: Pair, options: WhyOptions, own: OwnNode): Promise<ReportedPath | undefined> {
  if (own.status && isOwn(own, from)) return ownPath(own, to);
  const path = `/api/v1/peers/${encodeURIComponent(from)}/paths`;
  const answer = await callInWorkspace(targetOf(options), { method: 'get', path });
  const { items } = z.object({ items: z.array(pathSchema.extend({ peer: z.string() })) }).parse(answer);
  return items.find(({ peer: id, name }) => isNamed({ id, name }, to));
}

function ownPath(own: OwnNode, to: string): ReportedPath | undefined {
  const peer = peerOf(own, to);
  return peer && pathSchema.parse({ ...peer, reason: `${peer.reason.detail} (${peer.reason.code})` });
}

function peerOf({ status }: OwnNode, wanted: string) {
  return status?.peers.find((peer) => isNamed(peer, wanted));
}

function turned({ from, to }: Pair): Pair {
  return { from: to, to: from };
}

function pathTexts(
  pair: Pair,
  own: OwnNode,
  { path, back, isAsked }: Pick<PairFacts, 'path' | 'back'> & { readonly isAsked: boolean },
): string[] {
  return [
    ...(path || isAsked ? [pathText(pair, path, own)] : []),
    ...(back || isAsked ? [pathText(turned(pair), back, own)] : []),
  ];
}

function pathText({ from, to }: Pair, reported: ReportedPath | null, own: OwnNode): string {
  if (!reported && own.status && isOwn(own, from)) return `${from} has no path to ${to}, which is not in its graph.`;
  if (!reported) return `${from} has not reported how it reaches ${to}.`;
  const { name, transport, path, reason, since } = reported;
  return `Path from ${from} to ${name}: ${path ?? 'none yet'} (${transport}) since ${since ?? '-'}: ${reason}`;
}

function protocolOf(text: string): string {
  const protocol = PROTOCOLS.find((each) => each === text.toUpperCase());
  if (protocol === undefined) throw new InvalidArgumentError(`It is one of ${PROTOCOLS.join(', ')}.`);
  return protocol;
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  if (port < 1 || port > 65_535) throw new InvalidArgumentError('It is a port from 1 to 65535.');
  return port;
}
