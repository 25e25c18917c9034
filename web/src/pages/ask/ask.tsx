import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useWorkspaceZone } from '../../api/workspace-zone.ts';
import { route, setQuery } from '../../route/route.ts';
import { useDraft } from '../../ui/draft.ts';
import { Page } from '../../ui/page.tsx';
import { RangeControl, useRange } from '../../ui/range.tsx';
import { PAGE_NAMES } from '../names.ts';
import { AnswerView } from './answer-view.tsx';
import { type Asked, begin } from './answering.ts';
import { Examples } from './examples.tsx';
import { forgetQuestions, keepQuestion, pastQuestions } from './past-questions.ts';
import './ask.css';
import { ReadResult } from '../../ui/read-result.tsx';

const MAX_QUESTION = 1_000;

/** A question about the past in plain words. A link fills it in (`q`, `from`, `to`); only a person sends it. */
export default function Ask() {
  const range = useRange('month');
  const zone = useWorkspaceZone().value;
  const timeZone = zone.value;
  const { before, keep } = useDraft<string>('ask');
  const question = useSignal(route.value.query.get('q') ?? before ?? '');
  const shown = useSignal<Asked | undefined>(undefined);
  keep(() => (question.peek() === shown.peek()?.asked.question ? undefined : question.peek() || undefined));
  const field = useRef<HTMLTextAreaElement>(null);
  const linked = route.value.query.get('q') ?? '';
  // Another link to this page fills in another question.
  useLayoutEffect(() => {
    if (linked !== '') question.value = linked;
  }, [linked]);
  const submit = (event: Event) => {
    event.preventDefault();
    send(question.value.trim());
  };
  const send = (text: string) => {
    if (text === '' || !range.value || shown.value?.answer.value.isAnswering) return;
    question.value = text;
    setQuery({ q: text });
    shown.value = begin({ question: text, ...range.value });
    keepQuestion(shown.value);
  };
  const open = (asked: Asked) => {
    const { question: text, from, to } = asked.asked;
    shown.value = asked;
    question.value = text;
    setQuery({ q: text, from, to });
  };
  const isAnswering = shown.value?.answer.value.isAnswering ?? false;
  return (
    <Page title={PAGE_NAMES.ask.title} actions={<RangeControl range={range.value} />}>
      <form class="stack-small" onSubmit={submit}>
        <label class="field">
          Question
          <textarea
            ref={field}
            rows={2}
            maxLength={MAX_QUESTION}
            value={question.value}
            onInput={({ currentTarget }) => {
              question.value = currentTarget.value;
            }}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event);
            }}
          />
          <span class="hint dim">
            Name peers, labels, policies, ports and times in plain words. Asking changes nothing.
            {timeZone && ` Days and times are read in ${timeZone}, the time zone of the workspace.`}
          </span>
        </label>
        <ReadResult of={zone} loading="" />
        <div class="row">
          <button type="submit" class="primary" disabled={isAnswering || question.value.trim() === ''}>
            Ask
          </button>
          {isAnswering && (
            <button type="button" onClick={() => shown.value?.stop()}>
              Stop
            </button>
          )}
        </div>
      </form>
      {shown.value && <AnswerView asked={shown.value} ask={send} />}
      {!shown.value && (
        <Examples
          choose={(text) => {
            question.value = text;
            field.current?.focus();
          }}
        />
      )}
      <Past shown={shown.value} open={open} />
    </Page>
  );
}

function Past({ shown, open }: { shown: Asked | undefined; open: (asked: Asked) => void }) {
  const all = pastQuestions.value;
  if (all.length === 0) return null;
  return (
    <section class="stack-small" aria-label="Questions of this session">
      <div class="row">
        <h2>Questions of this session</h2>
        <button type="button" class="link small" onClick={forgetQuestions}>
          Clear
        </button>
      </div>
      <ol class="stack-small">
        {all.map((asked, index) => (
          <li key={all.length - index}>
            <button type="button" class="link break" aria-current={asked === shown} onClick={() => open(asked)}>
              {asked.asked.question}
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
