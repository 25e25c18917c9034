import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { answer, api } from '../api/client.ts';
import { useLoaded } from '../api/load.ts';
import { Problem } from '../api/problem.ts';
import type { components } from '../api/schema.d.ts';
import { may } from '../api/workspace.ts';
import { Names } from '../effect/names.tsx';
import { linkTo } from '../route/route.ts';
import { reachability as words } from '../texts/reachability.ts';
import { texts } from '../texts/texts.ts';
import { Facts } from '../ui/facts.tsx';
import { ProblemNotice } from '../ui/problem.tsx';
import { Time } from '../ui/time.tsx';
import type { Asked } from './asked.ts';
import { MakeAssertion } from './make-assertion.tsx';
import { countText, portsText } from './ports.ts';

type Pair = components['schemas']['CheckConnectivityResponse'];
type Groups = components['schemas']['ConnectivityGroups'];
type Verdict = Pair['verdict'];

const TONE: Record<Verdict, string> = { reachable: 'ok', partial: 'warn', unreachable: 'danger', undetermined: '' };
const MARK: Record<Verdict, string> = { reachable: '●', partial: '◐', unreachable: '✕', undetermined: '?' };

/** Word, shape and colour. */
export function VerdictTag({ verdict }: { verdict: Verdict }) {
  return (
    <span class={`tag ${TONE[verdict]}`}>
      <span aria-hidden="true">{MARK[verdict]}</span> {words.verdicts[verdict]}
    </span>
  );
}

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
  useEffect(() => {
    if (takesFocus) heading.current?.focus();
  }, []);
  const { value, problem, reload, isLoading } = loaded.value;
  const { src, dst } = asked;
  const ends = [src, dst].map((end) => (end === '' ? words.anyone : end));
  const mayAssert =
    value !== undefined && asked.at === null && may('network:write') && value.verdict !== 'undetermined';
  return (
    <section class="panel stack" aria-label={words.answer(ends.join(` ${texts.effect.to} `))} aria-busy={isLoading}>
      <div class="row">
        <h2 class="break" tabIndex={-1} ref={heading}>
          {ends[0]} <span aria-hidden="true">→</span>
          <span class="visually-hidden">{texts.effect.to}</span> {ends[1]}
        </h2>
        {value && <VerdictTag verdict={value.verdict} />}
        <span class="row push">{actions}</span>
      </div>
      <ProblemNotice problem={problem} again={reload} />
      {value && ('steps' in value ? <PairAnswer pair={value} asked={asked} /> : <GroupsAnswer groups={value} />)}
      {mayAssert && value.verdict !== 'partial' && (
        <div class="row">
          <button type="button" onClick={() => (isAsking.value = true)}>
            {words.make}
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
  if (port !== '' && !/^[1-9]\d{0,4}$/.test(port)) throw new Problem({ title: words.portWrong });
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
  if (found.verdict === 'undetermined') return { ...found, sentence: words.verdicts.undetermined };
  const { explanation } = await answer(api.GET('/api/v1/connectivity/explain', { params, signal }));
  return { ...found, sentence: explanation };
}

function PairAnswer({ pair, asked }: { pair: PairWithSentence; asked: Asked }) {
  const { at } = asked;
  return (
    <>
      <p class="break">{pair.sentence}</p>
      <Facts
        facts={[
          [words.allowed, <code key="ports">{portsText(pair.allowed)}</code>],
          [words.path, at ? words.noPathThen : <PathBetween key="path" asked={asked} />],
          [words.validFrom, pair.valid_from && <Time key="from" at={pair.valid_from} />],
          [words.validTo, pair.valid_to && <Time key="to" at={pair.valid_to} />],
          [words.today, at && <VerdictTag key="now" verdict={pair.now.verdict} />],
        ]}
      />
      <Steps steps={pair.steps as unknown as readonly Step[]} />
      <Fixes fixes={pair.would_fix as unknown as readonly Fix[]} />
    </>
  );
}

interface Step {
  readonly stage: string;
  readonly result: string;
  readonly subject: string;
  readonly policy: string | null;
  readonly rule_index: number | null;
}

const POLICY_STAGES: ReadonlySet<string> = new Set(['delegation_bound', 'egress', 'ingress']);
const RESULT_MARK: Readonly<Record<string, string>> = { pass: '✓', fail: '✕', partial: '◐' };

/** Every stage of the decision, with the rule that decided it. */
function Steps({ steps }: { steps: readonly Step[] }) {
  const deciding = steps.filter(({ stage, result }) => POLICY_STAGES.has(stage) || result !== 'pass');
  return (
    <section class="stack-small">
      <h3>{words.why}</h3>
      <ol class="stages">
        {steps.every(({ stage, result }) => POLICY_STAGES.has(stage) || result === 'pass') && (
          <li class="pass">
            <span aria-hidden="true">{RESULT_MARK['pass']}</span> {words.known}
          </li>
        )}
        {deciding.map(({ stage, result, subject, policy, rule_index: rule }) => (
          <li key={`${stage} ${subject}`} class={result}>
            <span aria-hidden="true">{RESULT_MARK[result]}</span>
            <span class="break">
              {subject} {words.stages[stage] ?? stage}: <strong>{words.results[result]}</strong>
            </span>
            <span class="dim break">
              {policy !== null && <PolicyLink name={policy} rule={rule} />}
              {policy === null && ['egress', 'ingress'].includes(stage) && words.byDefault}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function PolicyLink({ name, rule }: { name: string; rule: number | null }) {
  const text = rule === null ? words.policy(name) : words.rule(name, rule);
  return <a href={linkTo('policies', [name])}>{text}</a>;
}

interface Fix {
  readonly change: string;
  readonly detail?: string;
  readonly opens_pairs?: number;
  readonly closes_pairs?: number;
}

function Fixes({ fixes }: { fixes: readonly Fix[] }) {
  if (fixes.length === 0) return null;
  return (
    <section class="stack-small">
      <h3>{words.fix}</h3>
      <ul class="stack-small">
        {fixes.map(({ change, detail, opens_pairs: opens = 0, closes_pairs: closes = 0 }) => (
          <li key={`${change} ${detail}`} class="break">
            {detail ?? words.fixWrites(opens, closes)}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** How the devices said last that they reach each other. */
function PathBetween({ asked: { src, dst } }: { asked: Asked }) {
  const loaded = useLoaded(async () => {
    const read = (id: string) => answer(api.GET('/api/v1/peers/{id}/paths', { params: { path: { id } } }));
    const reports = await Promise.all([read(src), read(dst)]).catch(() => undefined);
    const [own, other] = reports ?? [];
    return own?.items.find(({ name }) => name === dst) ?? other?.items.find(({ name }) => name === src) ?? null;
  });
  const { value } = loaded.value;
  if (value === undefined) return null;
  if (value === null || value.path === null) {
    const isFailed = value?.transport === 'failed';
    return <>{isFailed ? words.paths.failed : words.paths.none}</>;
  }
  return (
    <span class="row">
      <span class={`tag ${value.path === 'direct' ? 'ok' : 'warn'}`}>{words.paths[value.path]}</span>
      <span class="dim small">{value.reason}</span> <Time at={value.since} />
    </span>
  );
}

function GroupsAnswer({
  groups: { groups, asked_pairs: pairs, open_pairs: open, group_count: count },
}: {
  groups: Groups;
}) {
  const left = count - groups.length;
  return (
    <>
      <p>{open === 0 ? words.noGroups : words.groups(countText(open), countText(pairs))}</p>
      <ul class="lines">
        {groups.map((group) => (
          <li key={JSON.stringify([group.src, group.dst, group.allowed])}>
            <span>
              <Names names={group.src} /> <span aria-hidden="true">→</span>
              <span class="visually-hidden">{texts.effect.to}</span> <Names names={group.dst} />
            </span>
            <span class="push row">
              <span class="dim small">{words.sharing(countText(group.pairs))}</span>
              <code>{portsText(group.allowed)}</code>
            </span>
          </li>
        ))}
      </ul>
      {left > 0 && <p class="dim">{words.cut(left)}</p>}
    </>
  );
}
