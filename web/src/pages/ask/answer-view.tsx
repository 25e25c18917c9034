import { useAgentNames } from '../../api/agents.ts';
import { holds } from '../../api/workspace.ts';
import { mayPutBack, putBackTarget } from '../../effect/put-back.ts';
import { FindingSentence } from '../../reach/finding-sentence.tsx';
import { linkTo } from '../../route/route.ts';
import { withAgentNamesIn } from '../../ui/agent-names.ts';
import { Code } from '../../ui/code.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Sentence } from '../../ui/sentence.tsx';
import { exactTime } from '../../ui/time.tsx';
import type { Asked, Finding, Lead } from './answering.ts';
import { suggestedQuestions } from './suggested-questions.ts';

const findingsText = (shown: number, all: number) =>
  shown === all ? `Findings (${all})` : `Findings (${shown} of ${all})`;

/** What is told of a question, as it comes: the answer first, then what it rests on. */
export function AnswerView({ asked, ask: askAgain }: { asked: Asked; ask: (question: string) => void }) {
  const agents = useAgentNames();
  const { steps, modelWords, model, isAnswering, isStopped, omitted, next, range, problem } = asked.answer.value;
  const { findings, words } = withAgentNamesIn(asked.answer.value, agents.value.value);
  const isDone = !isAnswering && !isStopped && !problem;
  return (
    <article class="panel stack" aria-label={asked.asked.question} aria-busy={isAnswering}>
      <h2 class="break">{asked.asked.question}</h2>
      <p class="small dim">
        {exactTime((range ?? asked.asked).from)} <span aria-hidden="true">→</span>{' '}
        {exactTime((range ?? asked.asked).to)}
      </p>
      <p role="status" class={words === '' ? 'dim' : 'break'}>
        {words !== '' ? (
          <Sentence text={words} />
        ) : isAnswering ? (
          'Looking through the past…'
        ) : isStopped ? (
          'Stopped. Partial findings are below.'
        ) : (
          ''
        )}
      </p>
      <ProblemNotice problem={problem} />
      <ReadResult of={agents.value} loading="" />
      {problem && <Suggestions questions={suggestedQuestions(asked.asked.question, problem)} ask={askAgain} />}
      {problem && holds('audit:read') && (
        <p>
          Changes of settings, people and tokens are in the audit log: <a href={linkTo('audit')}>Audit</a>
        </p>
      )}
      {modelWords !== '' && (
        <div class="notice stack-small lines">
          <strong>Written by {model ? `the model ${model}` : 'a model'} from the findings above.</strong>
          <p class="break">{modelWords}</p>
        </div>
      )}
      {next && <LeadLink lead={next} asked={asked} />}
      {isDone && !next && findings.length === 0 && (
        <p class="dim">No changes in this range. Choose a longer range or another connection.</p>
      )}
      {findings.length > 0 && (
        <section class="stack-small">
          <h3>{findingsText(findings.length, findings.length + omitted)}</h3>
          <ol class="stack">
            {findings.map((finding, index) => (
              <FindingView key={index} finding={finding} />
            ))}
          </ol>
          {omitted > 0 && <p class="dim">{omitted} more not shown. Ask about a shorter range.</p>}
        </section>
      )}
      <details open={isAnswering}>
        <summary>Steps</summary>
        <ol class="stack-small steps">
          {steps.map(({ text, call }, index) => (
            <li key={index} class="break">
              {text}
              {call && <Code>{call}</Code>}
            </li>
          ))}
        </ol>
      </details>
    </article>
  );
}

function Suggestions({ questions, ask: askAgain }: { questions: readonly string[]; ask: (question: string) => void }) {
  if (questions.length === 0) return null;
  return (
    <div class="stack-small">
      <p>Or ask one of these:</p>
      <ul class="stack-small">
        {questions.map((question) => (
          <li key={question}>
            <button type="button" class="link break" onClick={() => askAgain(question)}>
              {question}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function FindingView({ finding }: { finding: Finding }) {
  const { at, change, restore, no_restore: why } = finding;
  return (
    <li class="finding stack-small">
      <FindingSentence finding={finding} />
      <div class="row">
        <a class="button" href={linkTo('time', [], { at })} aria-label={`View this moment, ${exactTime(at)}`}>
          View this moment
        </a>
        {change?.workflow_id && <a href={linkTo('review', [change.workflow_id])}>Approval</a>}
        {restore && mayPutBack() && (
          <button
            type="button"
            onClick={() => {
              putBackTarget.value = { plan: restore };
            }}
          >
            Revert
          </button>
        )}
      </div>
      {!restore && why && mayPutBack() && (
        <p class="small dim">
          <Sentence text={why} />
        </p>
      )}
    </li>
  );
}

const LEADS: Readonly<Record<string, string>> = {
  check_connectivity_at: 'the reachability at that time',
  diff_snapshots: 'the comparison of start and end',
};

/** What the question led to, as a page where there is one. */
function LeadLink({ lead: { tool, arguments: named }, asked: { asked } }: { lead: Lead; asked: Asked }) {
  const { from, to, at, src, dst } = named;
  const range = { from: textOf(from) ?? asked.from, to: textOf(to) ?? asked.to };
  const moment = { src, dst, at };
  const then = Object.fromEntries(
    Object.entries(moment).flatMap(([name, one]) => (textOf(one) ? [[name, String(one)]] : [])),
  );
  return (
    <p class="row">
      <span>Answered by {LEADS[tool] ?? tool.replaceAll('_', ' ')}.</span>
      {tool === 'diff_snapshots' && <a href={linkTo('time', [], { ...range, view: 'compare' })}>Full answer</a>}
      {tool === 'check_connectivity_at' && 'at' in then && <a href={linkTo('reachability', [], then)}>Full answer</a>}
    </p>
  );
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);
