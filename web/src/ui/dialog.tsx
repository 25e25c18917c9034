import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { useAct } from './act.ts';
import { Form } from './form.tsx';
import { useModal } from './modal.ts';
import { ProblemNotice } from './problem.tsx';
import { NoticePlace } from './read-result.tsx';

/** A modal dialog: keeps the focus, closes with Escape, gives the focus back. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const id = useId();
  const isGone = useRef(false);
  const dialog = useModal(close);
  useLayoutEffect(
    () => () => {
      isGone.current = true;
    },
    [],
  );
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={() => isGone.current || close()}>
      <div class="stack">
        <h2 id={id} class="break">
          {title}
        </h2>
        <NoticePlace.Provider value={id}>{children}</NoticePlace.Provider>
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** A verb with its object. */
  readonly act: string;
  /** To be typed, where it cannot be undone. */
  readonly name?: string | undefined;
  /** Whether all that it takes to decide is shown. */
  readonly isReady?: boolean;
  readonly run: () => Promise<unknown>;
  readonly close: () => void;
}

/** Asks before something is done; where it cannot be undone, for the name to be typed. Done, the focus is on the page. */
export function Confirm({ title, children, act: label, name, isReady = true, run, close }: ConfirmProps) {
  const typed = useSignal('');
  const isEarly = useSignal(false);
  /** How often it was confirmed with another name than the one that is to be typed, since that was last touched. */
  const misses = useSignal(0);
  const { isActing, problem, act } = useAct();
  const field = useRef<HTMLInputElement>(null);
  const missId = useId();
  const isOther = name !== undefined && typed.value !== name;
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isOther) {
      misses.value += 1;
      field.current?.focus();
      return;
    }
    isEarly.value = !isReady;
    const dialog = (event.currentTarget as HTMLFormElement).closest('dialog');
    if (!isReady || !(await act(run))) return;
    // What asked is often gone with what was done, and would take the focus with it.
    dialog?.close();
    document.getElementById('content')?.focus({ preventScroll: true });
    close();
  };
  return (
    <Dialog title={title} close={close}>
      <Form problem={problem} class="stack" onSubmit={submit}>
        {children}
        {name !== undefined && (
          <label class="field">
            Type {name} to confirm. This cannot be undone.
            <input
              ref={field}
              value={typed.value}
              autocomplete="off"
              spellcheck={false}
              aria-invalid={misses.value > 0}
              aria-describedby={misses.value > 0 ? missId : undefined}
              onInput={({ currentTarget }) => {
                typed.value = currentTarget.value;
                misses.value = 0;
              }}
            />
          </label>
        )}
        {name !== undefined && misses.value > 0 && (
          // A new one each time, which is read aloud again.
          <p key={misses.value} id={missId} class="fault" role="alert">
            Nothing was done: the name does not match. Type {name} exactly.
          </p>
        )}
        {isEarly.value && (
          <p class={isReady ? 'hint' : 'fault'} role="status">
            {isReady
              ? 'The effect is shown now. Press again.'
              : 'The effect is still being computed. Nothing was done.'}
          </p>
        )}
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" class="danger" aria-disabled={!isReady || isOther} disabled={isActing.value}>
            {label}
          </button>
          <button type="button" class="quiet" onClick={close}>
            Cancel
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
