import { useSignal, useSignalEffect } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Order, PlanRequest, TypedChange } from '../../api/types.ts';
import { useWorkspaceZone } from '../../api/workspace-zone.ts';
import { handedChanges } from '../../effect/handed-changes.ts';
import { route, setQuery } from '../../route/route.ts';
import { useDraft } from '../../ui/draft.ts';
import { Empty, Page } from '../../ui/page.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import type { Suggestion } from '../../ui/suggestion.ts';
import './change.css';
import { draftOf } from './draft.ts';
import { NotUnderstood } from './not-understood.tsx';
import { faultsByRow, missingIn, type OrderRow, orderOf, type RowFaults, rowOf } from './order-rows.ts';
import { OrderRows } from './order-rows.tsx';
import { PlanView } from './plan-view.tsx';
import { usePlanning } from './planning.ts';
import { Stages } from './stages.tsx';
import { useVocabulary } from './vocabulary.ts';

const MAX_INTENT = 4_000;
/** Earlier intents that are sent along. */
const MAX_HISTORY = 10;

interface Draft {
  readonly intent: string;
  readonly link: string | null;
  readonly rows: readonly OrderRow[];
}

/** From a sentence or orders to a change that waits for approval. `?intent=` fills the sentence in; only a person sends it. */
export default function Change() {
  const { before, keep } = useDraft<Draft>('change');
  const intent = useSignal(before?.intent ?? '');
  const rows = useSignal<readonly OrderRow[]>(before?.rows ?? []);
  /** Rows that a sentence or a plan became: until a person changes one, another sentence takes their place. */
  const drafted = useRef<readonly OrderRow[]>(undefined);
  const isDraft = rows.value === drafted.current;
  const vocabulary = useVocabulary();
  const zone = useWorkspaceZone();
  const takeOrders = (orders: readonly Partial<Order>[]) => {
    drafted.current = orders.map((order) => rowOf(order, zone.peek().value));
    rows.value = drafted.current;
  };
  /** By the key of the row. */
  const faults = useSignal<ReadonlyMap<number, RowFaults>>(new Map());
  const near = useSignal<readonly Suggestion[]>([]);
  /** The sentence of the address that was filled in last. */
  const link = useRef(before?.link ?? null);
  keep(() => {
    const typed = intent.peek();
    const orders = rows.peek() === drafted.current ? [] : rows.peek();
    return typed === '' && orders.length === 0 ? undefined : { intent: typed, link: link.current, rows: orders };
  });
  /** What Mesh suggested on another page, where that was planned. */
  const suggestion = useRef<PlanRequest>(undefined);
  const history = useSignal<readonly string[]>([]);
  const planning = usePlanning();
  const { isPlanning, problem, planned, stages } = planning;
  const field = useRef<HTMLTextAreaElement>(null);
  const linked = route.value.query.get('intent');
  useLayoutEffect(() => {
    if (linked !== null && linked !== link.current && linked !== intent.peek()) {
      intent.value = linked.slice(0, MAX_INTENT);
      rows.value = [];
    }
    link.current = linked;
  }, [linked]);
  const isPast = route.value.query.has('at');

  const keepFaults = (found: ReadonlyMap<number, RowFaults>) => {
    const keyed = [...found].flatMap(([place, fault]) => {
      const key = rows.peek()[place]?.key;
      return key === undefined ? [] : [[key, fault] as const];
    });
    faults.value = new Map(keyed);
  };
  useSignalEffect(() => {
    const refused = problem.value;
    if (refused?.code === 'intent_not_understood' && rows.peek().length === 0) {
      const draft = draftOf(refused);
      takeOrders(draft.orders);
      near.value = draft.near;
    }
    keepFaults(faultsByRow(refused?.errors ?? []));
  });

  const plan = (sentence: string, changes?: readonly TypedChange[]) => {
    const asked = sentence.trim();
    if (asked === '' || isPast) return;
    const last = planned.peek()?.asked.intent;
    if (last !== undefined && last !== asked) history.value = [...history.value, last].slice(-MAX_HISTORY);
    rows.value = [];
    intent.value = asked;
    setQuery({ intent: asked });
    void planning.ask({
      intent: asked,
      ...(history.value.length > 0 && { history: [...history.value] }),
      ...(changes && { changes: [...changes] }),
    });
  };
  const submit = () => {
    if (rows.value.length === 0) return plan(intent.value);
    if (isPast) return;
    const missing = rows.value.map((row, place) => [place, missingIn(row)] as const);
    const incomplete = missing.filter(([, fault]) => Object.keys(fault).length > 0);
    keepFaults(new Map(incomplete));
    if (incomplete.length > 0) return;
    const said = intent.value.trim();
    intent.value = said;
    setQuery({ intent: said });
    void planning.ask({ orders: rows.value.map(orderOf), ...(said !== '' && { intent: said }) });
  };
  useLayoutEffect(() => {
    const handed = handedChanges.peek();
    handedChanges.value = undefined;
    if (!handed || isPast) return;
    suggestion.current = handed;
    rows.value = [];
    intent.value = handed.intent ?? '';
    setQuery({ intent: intent.value });
    void planning.ask(handed);
  }, []);
  const startOver = () => {
    planning.clear();
    history.value = [];
    rows.value = [];
    near.value = [];
    intent.value = '';
    setQuery({ intent: undefined });
    field.current?.focus();
  };
  const discard = () => {
    planning.clear();
    rows.value = [];
    field.current?.focus();
  };
  const again = () => {
    const asked = planned.value?.asked;
    if (asked) void planning.ask(asked);
    else submit();
  };
  const hasRows = rows.value.length > 0;
  const lastEnd = isPlanning.value ? 'now' : problem.value ? 'failed' : planned.value ? 'done' : 'stopped';
  const examples = vocabulary.value.value?.examples ?? [];
  const isMarked = hasRows && problem.value !== undefined && faults.value.size > 0;
  return (
    <Page title="New change">
      <p class="dim">
        Write a sentence or orders. The preview shows what opens and closes; nothing changes before approval.
      </p>
      {isPast && (
        <p class="notice warn">You are viewing the past, which cannot be changed. Go back to now to plan a change.</p>
      )}
      <form
        class="panel stack"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
        }}
      >
        <Earlier intents={history.value} />
        <label class="field">
          What do you want to change?
          <textarea
            ref={field}
            rows={hasRows ? 2 : 3}
            maxLength={MAX_INTENT}
            placeholder={examples[0] ?? ''}
            value={intent.value}
            onInput={({ currentTarget }) => {
              if (rows.peek() === drafted.current) rows.value = [];
              intent.value = currentTarget.value;
            }}
          />
          {hasRows && (
            <span class="hint dim">
              {isDraft
                ? 'The orders below decide. They go when you change this sentence.'
                : 'The orders below decide. Approvers see this sentence as a quotation.'}
            </span>
          )}
        </label>
        {hasRows && (
          <>
            <OrderRows
              rows={rows}
              faults={faults}
              near={near.value}
              vocabulary={vocabulary.value}
              timeZone={zone.value.value}
            />
            <ProblemNotice problem={zone.value.problem} again={zone.value.reload} />
          </>
        )}
        <div class="row">
          <button
            type="submit"
            class="primary"
            disabled={isPast || isPlanning.value || (!hasRows && intent.value.trim() === '')}
          >
            {hasRows ? 'Preview orders' : 'Preview'}
          </button>
          {hasRows ? (
            <button type="button" onClick={discard}>
              Discard orders
            </button>
          ) : (
            <button type="button" disabled={isPast} onClick={() => (rows.value = [rowOf()])}>
              Write orders
            </button>
          )}
          {isPlanning.value && (
            <button type="button" onClick={planning.stop}>
              Stop
            </button>
          )}
          {(planned.value || problem.value || hasRows) && (
            <button type="button" class="quiet" onClick={startOver}>
              Start over
            </button>
          )}
          <span class="dim small push">Ctrl+Enter to preview. Nothing is applied.</span>
        </div>
      </form>
      <Stages stages={stages.value} last={lastEnd} />
      {problem.value?.code === 'intent_not_understood' ? (
        <NotUnderstood problem={problem.value} hasDraft={hasRows} plan={plan} />
      ) : isMarked ? (
        <p class="notice danger" role="alert">
          These orders cannot be planned. Correct the marked fields.
        </p>
      ) : (
        <ProblemNotice problem={problem.value} again={again} />
      )}
      {planned.value && (
        <PlanView
          key={planned.value.plan.plan_id}
          planned={planned.value}
          isSuggested={planned.value.asked === suggestion.current}
          again={again}
          applied={() => {
            intent.value = '';
            rows.value = [];
          }}
          planChanges={(changes) => plan(planned.value?.asked.intent ?? '', changes)}
          editOrders={hasRows ? undefined : takeOrders}
        />
      )}
      {!hasRows && <ProblemNotice problem={vocabulary.value.problem} again={vocabulary.value.reload} />}
      {!planned.value && !problem.value && !isPlanning.value && !hasRows && examples.length > 0 && (
        <Examples
          sentences={examples}
          choose={(text) => {
            intent.value = text;
            field.current?.focus();
          }}
        />
      )}
    </Page>
  );
}

interface ExamplesProps {
  readonly sentences: readonly string[];
  readonly choose: (sentence: string) => void;
}

function Earlier({ intents }: { intents: readonly string[] }) {
  if (intents.length === 0) return null;
  return (
    <section class="stack-small">
      <h2 class="small dim">Earlier in this conversation</h2>
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

function Examples({ sentences, choose }: ExamplesProps) {
  return (
    <Empty>
      <span>Examples</span>
      <ul class="stack-small">
        {sentences.map((text) => (
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
