import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { answer, api } from '../api/client.ts';
import { useLoaded } from '../api/load.ts';
import { Problem } from '../api/problem.ts';
import type { components } from '../api/schema.d.ts';
import type { ProposedChange } from '../api/types.ts';
import { may } from '../api/workspace.ts';
import { Chip } from '../design/chip.tsx';
import { editsOf } from '../effect/computed-edits.ts';
import { handedChanges } from '../effect/handed-changes.ts';
import { goTo, linkTo } from '../route/route.ts';
import { Facts } from '../ui/facts.tsx';
import { ReadResult } from '../ui/read-result.tsx';
import { Time } from '../ui/time.tsx';
import type { Asked } from './asked.ts';
import { MakeAssertion } from './make-assertion.tsx';
import { portsText } from './ports.ts';
import { Ends, Fixes, type Groups, GroupsAnswer, type Pair, Steps, VerdictTag } from './why.tsx';

const fixIntent = (src: string, dst: string, on: string) => `let ${src} reach ${dst}${on === '' ? '' : ` on ${on}`}`;

const PATHS = { direct: 'direct', relayed: 'relayed', failed: 'failed', none: 'none reported' } as const;

interface AnswerProps {
  readonly asked: Asked;
  readonly actions?: ComponentChildren;
  /** Once it is there, its heading is where keys go on. */
  readonly takesFocus?: boolean;
}

/** Whether one may reach the other, in a sentence, then why, by which path, and what would open it. */
export function Answer({ asked, actions, takesFocus = false }: AnswerProps) {
  const loaded = useLoaded((signal) => ask(asked, signal));
  const isAsking = useSignal(false);
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    if (takesFocus) heading.current?.focus();
  }, []);
  const { value, isLoading } = loaded.value;
  const { src, dst } = asked;
  const ends = [src, dst].map((end) => (end === '' ? 'anyone' : end));
  const mayAssert =
    value !== undefined && asked.at === null && may('network:write') && value.verdict !== 'undetermined';
  return (
    <section class="panel stack" aria-label={`Answer: ${ends.join(` ${'to'} `)}`} aria-busy={isLoading}>
      <div class="row">
        <h2 class="break" tabIndex={-1} ref={heading}>
          <Ends src={src} dst={dst} />
        </h2>
        {value && <VerdictTag verdict={value.verdict} />}
        <span class="row push">{actions}</span>
      </div>
      <ReadResult of={loaded.value}>
        {(found) => ('steps' in found ? <PairAnswer pair={found} asked={asked} /> : <GroupsAnswer groups={found} />)}
      </ReadResult>
      {mayAssert && value.verdict !== 'partial' && (
        <div class="row">
          <button type="button" onClick={() => (isAsking.value = true)}>
            Assert this
          </button>
        </div>
      )}
      {isAsking.value && value && (
        <MakeAssertion
          asked={asked}
          expect={value.verdict === 'reachable' ? 'reachable' : 'unreachable'}
          close={() => (isAsking.value = false)}
        />
      )}
    </section>
  );
}

type PairWithSentence = Pair & { readonly sentence: string };

async function ask({ src, dst, protocol, port, at }: Asked, signal: AbortSignal): Promise<PairWithSentence | Groups> {
  if (port !== '' && !/^[1-9]\d{0,4}$/.test(port)) throw new Problem({ title: 'A port is a number from 1 to 65535.' });
  const what = {
    ...(protocol && { protocol: protocol as 'TCP' }),
    ...(port && { port: Number(port) }),
    ...(at && { at }),
  };
  const query = { ...(src && { src }), ...(dst && { dst }), ...what };
  const found = (
    at
      ? await answer(api.GET('/api/v1/connectivity/check-at', { params: { query }, signal }))
      : await answer(api.GET('/api/v1/connectivity/check', { params: { query }, signal }))
  ) as Pair | Groups;
  if (!('steps' in found)) return found;
  const params = { query: { src, dst, ...what } };
  if (found.verdict === 'undetermined') return { ...found, sentence: 'not known' };
  const { explanation } = await answer(api.GET('/api/v1/connectivity/explain', { params, signal }));
  return { ...found, sentence: explanation };
}

function PairAnswer({ pair, asked }: { pair: PairWithSentence; asked: Asked }) {
  const { at, src, dst, protocol, port } = asked;
  const plan = (changes: readonly ProposedChange[]) => {
    const ports = [protocol || 'TCP', port].filter(Boolean).join('/').toLowerCase();
    handedChanges.value = {
      intent: fixIntent(src, dst, [protocol, port].join(' ').trim()),
      ...editsOf(changes),
      hold: [{ do: 'allow', from: [src], to: [dst], ...((protocol || port) && { ports: [ports] }) }],
    };
    goTo(linkTo('change'));
  };
  return (
    <>
      <p class="break">{pair.sentence}</p>
      <Facts
        facts={[
          ['Allowed', <code key="ports">{portsText(pair.allowed)}</code>],
          ['Path', at ? 'not recorded: paths are known only for now' : <PathBetween key="path" asked={asked} />],
          ['Since', pair.valid_from && <Time key="from" at={pair.valid_from} />],
          ['At least since', pair.at_least_from && <Time key="least" at={pair.at_least_from} />],
          ['Until', pair.valid_to && <Time key="to" at={pair.valid_to} />],
          ['Now', at && <VerdictTag key="now" verdict={pair.now.verdict} />],
        ]}
      />
      <Steps steps={pair.steps} hrefOf={(policy) => linkTo('policies', [policy])} />
      <Fixes
        fixes={pair.would_fix}
        plan={at === null && may('intents:plan') ? plan : undefined}
        hrefOf={(peer) => linkTo('peers', [peer])}
      />
    </>
  );
}

/** How the devices said last that they reach each other. */
function PathBetween({ asked: { src, dst } }: { asked: Asked }) {
  const loaded = useLoaded(async () => {
    const read = (id: string) => answer(api.GET('/api/v1/peers/{id}/paths', { params: { path: { id } } }));
    const reports = await Promise.all([read(src), read(dst)]);
    const [own, other] = reports;
    return own.items.find(({ name }) => name === dst) ?? other.items.find(({ name }) => name === src) ?? null;
  });
  return <ReadResult of={loaded.value}>{(path) => <PathSaid path={path} />}</ReadResult>;
}

type PathReport = components['schemas']['GetPeerPathsResponseItem'];

function PathSaid({ path: value }: { path: PathReport | null }) {
  if (value === null || value.path === null) {
    const isFailed = value?.transport === 'failed';
    return <>{isFailed ? 'failed' : 'none reported'}</>;
  }
  return (
    <span class="row">
      <Chip tone={value.path === 'direct' ? 'ok' : 'warn'}>{PATHS[value.path]}</Chip>
      <span class="dim small">{value.reason}</span> <Time at={value.since} />
    </span>
  );
}
