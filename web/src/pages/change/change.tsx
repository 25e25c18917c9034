import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { TypedChange } from '../../api/types.ts';
import { handedChanges } from '../../effect/handed-changes.ts';
import { route, setQuery } from '../../route/route.ts';
import { change as words } from '../../texts/change.ts';
import { useDraft } from '../../ui/draft.ts';
import { Empty, Page } from '../../ui/page.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import './change.css';
import { NotUnderstood } from './not-understood.tsx';
import { PlanView } from './plan-view.tsx';
import { usePlanning } from './planning.ts';

const MAX_INTENT = 4_000;
/** Earlier intents that are sent along. */
const MAX_HISTORY = 10;

interface Draft {
  readonly intent: string;
  readonly link: string | null;
}

/** From a sentence to a change that waits for approval. `?intent=` fills the sentence in; only a person sends it. */
export default function Change() {
  const { before, keep } = useDraft<Draft>('change');
  const intent = useSignal(before?.intent ?? '');
  /** The sentence of the address that was filled in last. */
  const link = useRef(before?.link ?? null);
  keep(() => (intent.peek() === '' ? undefined : { intent: intent.peek(), link: link.current }));
  const history = useSignal<readonly string[]>([]);
  const planning = usePlanning();
  const { isPlanning, problem, planned, stages } = planning;
  const field = useRef<HTMLTextAreaElement>(null);
  const linked = route.value.query.get('intent');
  useLayoutEffect(() => {
    if (linked !== null && linked !== link.current) intent.value = linked.slice(0, MAX_INTENT);
    link.current = linked;
  }, [linked]);
  const isPast = route.value.query.has('at');

  const plan = (sentence: string, changes?: readonly TypedChange[]) => {
    const asked = sentence.trim();
    if (asked === '' || isPast) return;
    const last = planned.peek()?.asked.intent;
    if (last !== undefined && last !== asked) history.value = [...history.value, last].slice(-MAX_HISTORY);
    intent.value = asked;
    setQuery({ intent: asked });
    void planning.ask({
      intent: asked,
      ...(history.value.length > 0 && { history: [...history.value] }),
      ...(changes && { changes: [...changes] }),
    });
  };
  useLayoutEffect(() => {
    const handed = handedChanges.peek();
    handedChanges.value = undefined;
    if (!handed || isPast) return;
    intent.value = handed.intent ?? '';
    setQuery({ intent: intent.value });
    void planning.ask(handed);
  }, []);
  const startOver = () => {
    planning.clear();
    history.value = [];
    intent.value = '';
    setQuery({ intent: undefined });
    field.current?.focus();
  };
  const again = () => {
    const asked = planned.value?.asked;
    if (asked) void planning.ask(asked);
    else plan(intent.value);
  };
  return (
    <Page title={words.title}>
      <p class="dim">{words.why}</p>
      {isPast && <p class="notice warn">{words.past}</p>}
      <form
        class="panel stack"
        onSubmit={(event) => {
          event.preventDefault();
          plan(intent.value);
        }}
      >
        <Earlier intents={history.value} />
        <label class="field">
          {words.intent}
          <textarea
            ref={field}
            rows={3}
            maxLength={MAX_INTENT}
            placeholder={words.placeholder}
            value={intent.value}
            onInput={({ currentTarget }) => {
              intent.value = currentTarget.value;
            }}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) plan(intent.value);
            }}
          />
        </label>
        <div class="row">
          <button type="submit" class="primary" disabled={isPast || isPlanning.value || intent.value.trim() === ''}>
            {words.plan}
          </button>
          {isPlanning.value && (
            <button type="button" onClick={planning.stop}>
              {words.stop}
            </button>
          )}
          {(planned.value || problem.value) && (
            <button type="button" class="quiet" onClick={startOver}>
              {words.startOver}
            </button>
          )}
          <span class="dim small push">{words.keys}</span>
        </div>
      </form>
      <Stages stages={stages.value} isPlanning={isPlanning.value} hasFailed={problem.value !== undefined} />
      {problem.value?.code === 'intent_not_understood' ? (
        <NotUnderstood problem={problem.value} plan={(sentence, changes) => plan(sentence ?? intent.value, changes)} />
      ) : (
        <ProblemNotice problem={problem.value} again={again} />
      )}
      {planned.value && (
        <PlanView
          key={planned.value.plan.plan_id}
          planned={planned.value}
          again={again}
          applied={() => (intent.value = '')}
          planChanges={(changes) => plan(planned.value?.asked.intent ?? '', changes)}
        />
      )}
      {!planned.value && !problem.value && !isPlanning.value && (
        <Examples
          choose={(text) => {
            intent.value = text;
            field.current?.focus();
          }}
        />
      )}
    </Page>
  );
}

function Earlier({ intents }: { intents: readonly string[] }) {
  if (intents.length === 0) return null;
  return (
    <section class="stack-small">
      <h2 class="small dim">{words.before}</h2>
      <ol class="stack-small">
        {intents.map((intent) => (
          <li key={intent} class="break dim">
            {intent}
          </li>
        ))}
      </ol>
    </section>
  );
}

const STAGE_MARKS = { done: '✓', now: '…', failed: '✕' } as const;

interface StagesProps {
  readonly stages: readonly string[];
  readonly isPlanning: boolean;
  /** True where the last stage ended without a plan. */
  readonly hasFailed: boolean;
}

/** What is done and what is being done, as it is told. */
function Stages({ stages, isPlanning, hasFailed }: StagesProps) {
  if (stages.length === 0 && !isPlanning) return null;
  const endOf = (isLast: boolean) => (!isLast ? 'done' : isPlanning ? 'now' : hasFailed ? 'failed' : 'done');
  return (
    <ol class="stages" aria-label={words.planning} aria-live="polite">
      {stages.map((text, index) => {
        const end = endOf(index === stages.length - 1);
        return (
          <li key={`${index} ${text}`} class={end}>
            <span aria-hidden="true">{STAGE_MARKS[end]}</span> {text}
            {end === 'failed' && ` (${words.failed})`}
          </li>
        );
      })}
    </ol>
  );
}

function Examples({ choose }: { choose: (text: string) => void }) {
  return (
    <Empty>
      <span>{words.examples}</span>
      <ul class="stack-small">
        {words.example.map((text) => (
          <li key={text}>
            <button type="button" class="link" onClick={() => choose(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
    </Empty>
  );
}
