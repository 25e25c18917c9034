import type { components } from '../api/schema.d.ts';
import { Chip } from '../design/chip.tsx';
import { To } from '../design/to.tsx';
import { Risk } from '../effect/risk.tsx';
import { FindingSentence } from '../reach/finding-sentence.tsx';
import { Ends, VerdictTag } from '../reach/why.tsx';
import { Facts } from '../ui/facts.tsx';
import { Sentence } from '../ui/sentence.tsx';
import { Time } from '../ui/time.tsx';
import { showView } from './frame.tsx';

type Answer = components['schemas']['FindCauseResponse'];

type Finding = Answer['findings'][number];
type Restore = NonNullable<Finding['restore']>;

showView<Answer>({
  title: 'Findings',
  Answer: ({ answer }) => <FindingsAnswer answer={answer} />,
  placeOf({ asked }, args, dashboard) {
    if (!dashboard) return undefined;
    const range = Object.entries({ from: asked.from, to: asked.to }).map(([name, at]) => [name, String(at)]);
    const { question } = args;
    return typeof question === 'string'
      ? { page: 'ask', href: `${dashboard}/ask?${new URLSearchParams([['q', question], ...range])}` }
      : { page: 'time', href: `${dashboard}/time?${new URLSearchParams(range)}` };
  },
});

function FindingsAnswer({ answer }: { answer: Answer }) {
  const { asked, reading, was, summary, findings, finding_count: count, next } = answer;
  const { begin, end, now } = was;
  const { src, dst } = asked;
  const isPair = src !== null || dst !== null;
  return (
    <article class="stack">
      <h2 class="break">{isPair ? <Ends src={src ?? ''} dst={dst ?? ''} /> : 'Answer'}</h2>
      <p class="break">
        <Sentence text={summary} />
      </p>
      <Facts
        facts={[
          ['Understood as', <Sentence key="reading" text={reading} />],
          ['Start', begin && <VerdictTag key="begin" verdict={begin.verdict} />],
          ['End', end && <VerdictTag key="end" verdict={end.verdict} />],
          ['Now', now && <VerdictTag key="now" verdict={now.verdict} />],
        ]}
      />
      {next && <p>The tool {next.tool} answers this question.</p>}
      {findings.length > 0 && (
        <section class="stack-small">
          <h3>{findings.length === count ? `Findings (${count})` : `Findings (${findings.length} of ${count})`}</h3>
          <ol class="spans">
            {findings.map((finding, index) => (
              <li key={index} class="stack-small">
                <FindingSentence finding={finding} />
                <Turn before={finding.before} after={finding.after} />
                {finding.restore && <RestoreLines restore={finding.restore} />}
                {!finding.restore && finding.no_restore && (
                  <p class="small dim break">
                    <Sentence text={finding.no_restore} />
                  </p>
                )}
              </li>
            ))}
          </ol>
        </section>
      )}
    </article>
  );
}

function Turn({ before, after }: { before: Finding['before']; after: Finding['after'] }) {
  if (!before || !after) return null;
  return (
    <p class="row">
      <VerdictTag verdict={before.verdict} /> <To /> <VerdictTag verdict={after.verdict} />
    </p>
  );
}

/** The plan is applied by a tool, and then decided by a person. */
function RestoreLines({ restore }: { restore: Restore }) {
  const { plan_id: id, summary, risk_level: risk, verified, effect, expires_at: until } = restore;
  return (
    <div class="notice stack-small">
      <span class="break">The plan {id} reverts it:</span>
      <strong class="break">{summary}</strong>
      {effect !== summary && <span class="break">{effect}</span>}
      <span class="row">
        <Risk level={risk} />
        {verified && <Chip tone="ok">brings it back</Chip>}
        <span class="small">
          expires <Time at={until} />
        </span>
      </span>
    </div>
  );
}
