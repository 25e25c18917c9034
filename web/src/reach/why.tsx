import type { components } from '../api/schema.d.ts';
import type { TypedChange } from '../api/types.ts';
import { Names } from '../effect/names.tsx';
import { reachability as words } from '../texts/reachability.ts';
import { texts } from '../texts/texts.ts';
import { countText, portsText } from './ports.ts';

export type Pair = components['schemas']['CheckConnectivityResponse'];
export type Groups = components['schemas']['ConnectivityGroups'];
export type Verdict = Pair['verdict'];

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

/** Who to whom, as a heading says it. */
export function Ends({ src, dst }: { src: string; dst: string }) {
  return (
    <>
      {src === '' ? words.anyone : src} <span aria-hidden="true">→</span>
      <span class="visually-hidden">{texts.effect.to}</span> {dst === '' ? words.anyone : dst}
    </>
  );
}

const POLICY_STAGES: ReadonlySet<string> = new Set(['delegation_bound', 'egress', 'ingress']);
const RESULT_MARK: Readonly<Record<string, string>> = { pass: '✓', fail: '✕', partial: '◐' };

interface StepsProps {
  readonly steps: Pair['steps'];
  /** The address of a policy; it is named alone without. */
  readonly hrefOf?: (policy: string) => string;
}

/** Every stage of the decision, with the rule that decided it. */
export function Steps({ steps, hrefOf }: StepsProps) {
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
              {policy !== null && <PolicyName name={policy} rule={rule} href={hrefOf?.(policy)} />}
              {policy === null && ['egress', 'ingress'].includes(stage) && words.byDefault}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function PolicyName({ name, rule, href }: { name: string; rule: number | null; href: string | undefined }) {
  const text = rule === null ? words.policy(name) : words.rule(name, rule);
  return <span>{href === undefined ? text : <a href={href}>{text}</a>}</span>;
}

interface FixesProps {
  readonly fixes: Pair['would_fix'];
  /** Where what is computed can be planned. */
  readonly plan?: ((changes: readonly TypedChange[]) => void) | undefined;
}

export function Fixes({ fixes, plan }: FixesProps) {
  if (fixes.length === 0) return null;
  return (
    <section class="stack-small">
      <h3>{words.fix}</h3>
      <ul class="stack-small">
        {fixes.map((fix) =>
          fix.change === 'apply_changes' ? (
            <li key="changes" class="break">
              {words.fixWrites(fix.opens_pairs, fix.closes_pairs)}{' '}
              {plan && (
                <button type="button" class="link" onClick={() => plan(fix.changes)}>
                  {words.planFix}
                </button>
              )}
            </li>
          ) : (
            <li key={`${fix.change} ${fix.detail}`} class="break">
              {fix.detail}
            </li>
          ),
        )}
      </ul>
    </section>
  );
}

/** Who of several may talk, by what they share. */
export function GroupsAnswer({
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
