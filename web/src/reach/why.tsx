import type { components } from '../api/schema.d.ts';
import type { ProposedChange } from '../api/types.ts';
import { Chip, type Tone } from '../design/chip.tsx';
import { To } from '../design/to.tsx';
import { Names } from '../effect/names.tsx';
import { countText, portsText } from './ports.ts';

export const VERDICTS = {
  reachable: 'reachable',
  unreachable: 'not reachable',
  partial: 'reachable in part',
  undetermined: 'not known',
} as const;

const STAGES = {
  known: 'is known',
  approved: 'is approved',
  not_expired: 'is not expired',
  same_network: 'is in the same network',
  delegation_bound: 'stays within the reach of its agent',
  egress: 'has egress for this',
  ingress: 'has ingress for this',
} as const;

const RESULTS = { pass: 'yes', fail: 'no', partial: 'in part' } as const;

const sharing = (pairs: string) => `${pairs} ${pairs === '1' ? 'pair' : 'pairs'}`;

export const groupsLeftText = (groups: number) =>
  `${groups} more groups are not shown. Filter by labels or group by another key.`;

export type Pair = components['schemas']['CheckConnectivityResponse'];
export type Groups = components['schemas']['ConnectivityGroups'];
export type Verdict = Pair['verdict'];

const TONE: Record<Verdict, Tone | ''> = { reachable: 'ok', partial: 'warn', unreachable: 'danger', undetermined: '' };
const MARK: Record<Verdict, string> = { reachable: '●', partial: '◐', unreachable: '✕', undetermined: '?' };

/** Word, shape and colour. */
export function VerdictTag({ verdict }: { verdict: Verdict }) {
  return (
    <Chip tone={TONE[verdict]}>
      <span aria-hidden="true">{MARK[verdict]}</span> {VERDICTS[verdict]}
    </Chip>
  );
}

/** Who to whom, as a heading says it. */
export function Ends({ src, dst }: { src: string; dst: string }) {
  return (
    <>
      {src === '' ? 'anyone' : src} <To /> {dst === '' ? 'anyone' : dst}
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
      <h3>Why</h3>
      <ol class="stages">
        {steps.every(({ stage, result }) => POLICY_STAGES.has(stage) || result === 'pass') && (
          <li class="pass">
            <span aria-hidden="true">{RESULT_MARK['pass']}</span> Both are approved, not expired and in one network.
          </li>
        )}
        {deciding.map(({ stage, result, subject, policy, rule_index: rule }) => (
          <li key={`${stage} ${subject}`} class={result}>
            <span aria-hidden="true">{RESULT_MARK[result]}</span>
            <span class="break">
              {subject} {STAGES[stage] ?? stage}: <strong>{RESULTS[result]}</strong>
            </span>
            <span class="dim break">
              {policy !== null && <PolicyName name={policy} rule={rule} href={hrefOf?.(policy)} />}
              {policy === null && ['egress', 'ingress'].includes(stage) && 'by default'}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function PolicyName({ name, rule, href }: { name: string; rule: number | null; href: string | undefined }) {
  const text = rule === null ? `Policy ${name}` : `${name}, rule ${rule}`;
  return <span>{href === undefined ? text : <a href={href}>{text}</a>}</span>;
}

interface FixesProps {
  readonly fixes: Pair['would_fix'];
  /** Where what is computed can be planned. */
  readonly plan?: ((changes: readonly ProposedChange[]) => void) | undefined;
  /** Where a device is that somebody has to act on. */
  readonly hrefOf?: (peer: string) => string;
}

export function Fixes({ fixes, plan, hrefOf }: FixesProps) {
  if (fixes.length === 0) return null;
  return (
    <section class="stack-small">
      <h3>How to allow it</h3>
      <ul class="stack-small">
        {fixes.map((fix) =>
          fix.change === 'apply_changes' ? (
            <li key="changes" class="break">
              A policy change that opens {fix.opens_pairs} {fix.opens_pairs === 1 ? 'pair' : 'pairs'}
              {fix.closes_pairs > 0 ? ` and closes ${fix.closes_pairs}` : ''}.{' '}
              {plan && (
                <button type="button" class="link" onClick={() => plan(fix.changes)}>
                  Plan this change
                </button>
              )}
            </li>
          ) : (
            <li key={`${fix.change} ${fix.detail}`} class="break">
              {fix.detail} {hrefOf && <a href={hrefOf(fix.peer)}>Open {fix.peer}</a>}
            </li>
          ),
        )}
      </ul>
    </section>
  );
}

/** Who of several may talk, by what they share. */
export function GroupsAnswer({
  groups: { groups, verdict, asked_pairs: pairs, open_pairs: open, group_count: count },
}: {
  groups: Groups;
}) {
  const left = count - groups.length;
  const ports = verdict === 'partial' && open === pairs ? ' on some ports' : '';
  return (
    <>
      <p>
        {open === 0
          ? 'None of these pairs is reachable.'
          : `${countText(open)} of ${countText(pairs)} pairs are reachable${ports}.`}
      </p>
      <ul class="lines">
        {groups.map((group) => (
          <li key={JSON.stringify([group.src, group.dst, group.allowed])}>
            <span>
              <Names names={group.src} /> <To /> <Names names={group.dst} />
            </span>
            <span class="push row">
              <span class="dim small">{sharing(countText(group.pairs))}</span>
              <code>{portsText(group.allowed)}</code>
            </span>
          </li>
        ))}
      </ul>
      {left > 0 && <p class="dim">{groupsLeftText(left)}</p>}
    </>
  );
}
