import type { components } from '../api/schema.d.ts';
import { Risk } from '../effect/risk.tsx';
import { FindingSentence } from '../reach/finding-sentence.tsx';
import { Ends, VerdictTag } from '../reach/why.tsx';
import { ask } from '../texts/ask.ts';
import { reachability } from '../texts/reachability.ts';
import { texts } from '../texts/texts.ts';
import { views } from '../texts/views.ts';
import { Facts } from '../ui/facts.tsx';
import { Sentence } from '../ui/sentence.tsx';
import { Time } from '../ui/time.tsx';
import { showView } from './frame.tsx';

const words = views.findings;

type Answer = components['schemas']['FindCauseResponse'];

type Finding = Answer['findings'][number];
type Restore = NonNullable<Finding['restore']>;

showView<Answer>({
  title: words.title,
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
      <h2 class="break">{isPair ? <Ends src={src ?? ''} dst={dst ?? ''} /> : ask.done}</h2>
      <p class="break">
        <Sentence text={summary} />
      </p>
      <Facts
        facts={[
          [ask.read, <Sentence key="reading" text={reading} />],
          [words.begin, begin && <VerdictTag key="begin" verdict={begin.verdict} />],
          [words.end, end && <VerdictTag key="end" verdict={end.verdict} />],
          [reachability.today, now && <VerdictTag key="now" verdict={now.verdict} />],
        ]}
      />
      {next && <p>{words.elsewhere(next.tool)}</p>}
      {findings.length > 0 && (
        <section class="stack-small">
          <h3>{ask.findings(findings.length, count)}</h3>
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
      <VerdictTag verdict={before.verdict} /> <span aria-hidden="true">→</span>
      <span class="visually-hidden">{texts.effect.to}</span> <VerdictTag verdict={after.verdict} />
    </p>
  );
}

/** The plan is applied by a tool, and then decided by a person. */
function RestoreLines({ restore }: { restore: Restore }) {
  const { plan_id: id, summary, risk_level: risk, verified, effect, expires_at: until } = restore;
  return (
    <div class="notice stack-small">
      <span class="break">{words.restore(id)}</span>
      <strong class="break">{summary}</strong>
      {effect !== summary && <span class="break">{effect}</span>}
      <span class="row">
        <Risk level={risk} />
        {verified && <span class="tag ok">{words.matches}</span>}
        <span class="small">
          {words.expires} <Time at={until} />
        </span>
      </span>
    </div>
  );
}
