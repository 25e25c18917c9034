import { readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';
import { describe, expect, test } from 'vitest';
import { isTestFile } from './import-rules.ts';
import { sourceFiles } from './kits/source-files.ts';

/** Node fires a timer of more milliseconds than this at once. */
const LONGEST_MS = 2 ** 31 - 1;

const files = sourceFiles().filter(
  (file) => file.endsWith('.ts') && !isTestFile(file) && !/^(?:web|evals)\//.test(file),
);

/** Times that no constant of the same expression bounds, each with what does. None comes from outside as it is. */
const BOUNDED: Readonly<Record<string, string>> = {
  'bin/compose/bus-servers.ts: ms': 'LOOK_MS',
  'bin/compose/watchdog/watchdog-thread.ts: tickMs': 'TICK_MS',
  'bin/compose/watchdog/watchdog.ts: tickMs': 'TICK_MS',
  'cli/api.ts: request.timeoutMs ?? TIMEOUT_MS': 'commands give constants of their own',
  'client/agent/firewall-keeper.ts: ms': 'EVERY_MS',
  'client/agent/netcheck.ts: waitMs': 'one of TRIES_MS',
  'client/agent/overlay.ts: ms': 'LAST_RETRY_MS, LOST_RETRY_MS and LONGEST_TIMER_MS',
  'client/agent/overlay.ts: this.#overMs': 'LONGEST_TIMER_MS',
  'client/control/graph-fetches.ts: ms': 'LAST_RETRY_MS and CONFIRM_MS',
  'client/control/pulse.ts: ms': 'the intervals of standing.ts',
  'client/ice-port/ice-port.ts: Math.max(1, deadline - this.#options.now())':
    'steps of the gatherer, by a clock that does not jump',
  'client/names/name-service.ts: this.#retryMs': 'its last retry',
  'client/paths/runtime.ts: Math.max(1, Math.ceil(deadline - now()))':
    'steps of the paths, by a clock that does not jump',
  'client/relay/link.ts: wait': 'LONGEST_RETRY_MS, and the longest wait of Backoff',
  'client/routes/route-guard.ts: waitMs': 'PROBATION_MS, and LONGEST_MS divided by LOOKS',
  'llm/model/openai/chat.ts: Math.ceil(left)': 'the bounds of MESH_LLM_TIMEOUT',
  'llm/model/openai/chat.ts: idleMs': 'IDLE_MS',
  'llm/model/openai/chat.ts: wait': 'MAX_RETRY_MS, above which there is no second try',
  'mcp/bridge.ts: ms': 'REOPEN_MS',
  'net/bus/account-updates.ts: ms': 'RETRY_MS',
  'net/bus/keep-connected.ts: ms': 'its longest retry',
  'net/nats/listener.ts: deadlineMs': 'constants of its drain',
  'net/relay/listener.ts: this.#relay.limits.closeMs': 'RELAY_LIMITS',
  'net/relay/remote.ts: retryMs': 'LONGEST_RETRY_MS',
  'net/relay/listener.ts: timeoutMs': 'DRAIN_MS',
  'plane/compute/pool.ts: lane.waitMs': 'limits.ts beside it',
  'plane/compute/pool.ts: limits.runMs': 'limits.ts beside it',
  'plane/compute/pool.ts: limits.idleMs': 'limits.ts beside it',
  'plane/leadership.ts: ms': 'ROUND_MS and END_MS',
  'plane/shared-hearings.ts: ms': 'TELL_MS and AGAIN_MS',
  'plane/snapshots.ts: Math.max(0, deadline - clock.now())':
    'CAP_MS of the debouncer, by a clock that does not go back',
  'plane/webhooks/post.ts: bounds.totalMs': 'the bounds of the file',
  'plane/webhooks/post.ts: bounds.connectMs': 'the bounds of the file',
  'plane/workspace-push.ts: delay': 'RETRY_MS, and CAP_MS of the coalescer by a clock that does not go back',
  'plane/workspace-push.ts: ms': 'CAP_MS',
  'rest/listen.ts: graceMs': 'constants of the stop',
  'rest/send-archive.ts: stalledMs': 'ARCHIVE_LIMITS',
  'rest/send-archive.ts: wholeMs': 'ARCHIVE_LIMITS',
};

test('no timer takes longer than Node can count, whoever says how long', () => {
  const found = files.flatMap((file) => unboundedIn(file, readFileSync(file, 'utf8')));
  expect(found.filter((one) => !Object.hasOwn(BOUNDED, one))).toEqual([]);
  expect(Object.keys(BOUNDED).filter((one) => !found.includes(one))).toEqual([]);
});

describe('what is planted is found', () => {
  test.each([
    'setTimeout(again, retryAfterMs);',
    'setTimeout(again, Math.max(FIRST_MS, retryAfterMs));',
    'setInterval(() => look(), wait + TICK_MS);',
    'setTimeout(again, 4_294_967_295);',
    'AbortSignal.timeout(Number(header) * 1_000);',
    'socket.setTimeout(answer.waitMs, end);',
    'const wait = retryAfterMs; setTimeout(again, wait);',
    'import { setTimeout as delay } from "node:timers/promises"; const pause = (ms: number) => delay(ms);',
  ])('%s', (code) => {
    expect(unboundedIn('planted.ts', code)).toHaveLength(1);
  });

  test.each([
    'setTimeout(again, 10);',
    'setTimeout(again, TICK_MS * 2 + 1);',
    'setTimeout(again, Math.ceil(Math.min(retryAfterMs, LONGEST_MS)));',
    'setTimeout(again, isQuiet ? QUIET_MS : Math.max(0, Math.min(wait, LOOK_MS)));',
    'const wait = Math.min(retryAfterMs, LONGEST_MS); setTimeout(again, wait);',
    'setImmediate(again);',
  ])('%s is no finding', (code) => {
    expect(unboundedIn('planted.ts', code)).toEqual([]);
  });
});

/** Each as `<file>: <code of the time>`. */
function unboundedIn(file: string, source: string): string[] {
  const found: string[] = [];
  const { program } = parseSync(file, source);
  const values = new Map<string, Expression[]>();
  const promised = new Set<string>();
  new Visitor({
    ImportDeclaration({ source: { value }, specifiers }) {
      if (value === 'node:timers/promises') for (const { local } of specifiers) promised.add(local.name);
    },
    VariableDeclaration({ kind, declarations }) {
      for (const { id, init } of declarations) {
        if (kind !== 'const' || init === null) continue;
        const name = nameOf(id);
        values.set(name, [...(values.get(name) ?? []), init]);
      }
    },
  }).visit(program);
  new Visitor({
    CallExpression({ callee, arguments: given }) {
      const name = source.slice(callee.start, callee.end);
      const time = promised.has(name) ? given[0] : timeOf(name, given);
      if (!time) return;
      const made = values.get(nameOf(time)) ?? [];
      const isKnown = made.length > 0 && made.every(isBounded);
      if (!isKnown && !isBounded(time)) found.push(`${file}: ${source.slice(time.start, time.end)}`);
    },
  }).visit(program);
  return found;
}

interface Expression {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

function timeOf<E extends Expression>(callee: string, given: readonly E[]): E | undefined {
  if (/^(?:setTimeout|setInterval)$/.test(callee)) return given[1];
  return /^(?:AbortSignal\.timeout|\w+\.setTimeout)$/.test(callee) ? given[0] : undefined;
}

/** Whether a constant bounds a time, however large what else is in it may be. */
function isBounded(time: Expression): boolean {
  const node = time as Expression & Readonly<Record<string, Expression>>;
  const part = (name: string) => node[name] !== undefined && isBounded(node[name]);
  switch (node.type) {
    case 'Literal': {
      const { value } = node as unknown as { value: unknown };
      return typeof value === 'number' && value <= LONGEST_MS;
    }
    case 'Identifier':
      return /^[A-Z][A-Z0-9_]*$/.test(nameOf(node));
    case 'BinaryExpression':
      return part('left') && part('right');
    case 'ConditionalExpression':
      return part('consequent') && part('alternate');
    case 'CallExpression': {
      const { callee, arguments: given } = node as unknown as { callee: Expression; arguments: Expression[] };
      const { object, property } = callee as Expression & Readonly<Record<string, Expression>>;
      if (!object || !property || nameOf(object) !== 'Math') return false;
      if (nameOf(property) === 'min') return given.some(isBounded);
      return ['max', 'ceil', 'floor', 'round', 'random'].includes(nameOf(property)) && given.every(isBounded);
    }
    default:
      return false;
  }
}

function nameOf(node: Expression): string {
  return 'name' in node ? String(node.name) : '';
}
