import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { answer, api } from '../../../api/client.ts';
import { FRAMEWORK_NAMES, type Framework } from '../../../api/frameworks.ts';
import { WAITS } from '../../../api/write.ts';
import { goTo, linkTo, route } from '../../../route/route.ts';
import { useAct } from '../../../ui/act.ts';
import { TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { say } from '../../../ui/message.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { daysAgo } from '../days.ts';

const LASTS = [7, 30, 90, 365];
const DEFAULT_DAYS = 30;

/** Assesses a period; what takes long can be given up. */
export function AssessForm({ framework, isOpen }: { framework: Framework; isOpen: boolean }) {
  const from = useSignal(daysAgo(DEFAULT_DAYS));
  const to = useSignal('');
  const abort = useRef<AbortController | undefined>(undefined);
  const { isActing, problem, act } = useAct();
  useLayoutEffect(() => () => abort.current?.abort(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    return act(async () => {
      abort.current = new AbortController();
      const { signal } = abort.current;
      const body = {
        framework,
        period_start: `${from.value}T00:00:00Z`,
        ...(to.value && { period_end: `${to.value}T00:00:00Z` }),
      };
      try {
        const made = await answer(api.POST('/api/v1/ai/compliance/assess', { body, signal }));
        if ('evidence_id' in made) goTo(linkTo('compliance', ['assessments', made.evidence_id]));
        else say(WAITS);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    });
  };
  if (route.value.query.has('at')) return null;
  return (
    <details open={isOpen}>
      <summary>Assess a period</summary>
      <Form problem={problem} class="panel stack" onSubmit={submit}>
        <p class="dim">Checks each control after every change of the period. Results are kept for 3 years.</p>
        <div class="row">
          {LASTS.map((days) => (
            <button
              key={days}
              type="button"
              onClick={() => {
                from.value = daysAgo(days);
                to.value = '';
              }}
            >
              Last {days} days
            </button>
          ))}
        </div>
        <div class="filters">
          <TextField label="From" fields={['period_start']} type="date" value={from} required max={daysAgo(0)} />
          <TextField label="To (empty: now)" fields={['period_end']} type="date" value={to} max={daysAgo(-1)} />
        </div>
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" class="primary" disabled={isActing.value}>
            Assess {FRAMEWORK_NAMES[framework]}
          </button>
          {isActing.value && (
            <>
              <progress aria-label="Assessing each change of the period…" />
              <span role="status">Assessing each change of the period…</span>
              <button type="button" onClick={() => abort.current?.abort()}>
                Cancel
              </button>
            </>
          )}
        </div>
      </Form>
    </details>
  );
}
