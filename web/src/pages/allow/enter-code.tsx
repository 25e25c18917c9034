import { useSignal } from '@preact/signals';
import { Problem } from '../../api/problem.ts';
import { TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';

const LETTERS = 8;
const NOT_WAITING = new Problem({
  errors: [
    {
      pointer: '/code',
      detail: 'No device waits with this code. Type it as the device shows it; if it shows a new one, type that.',
    },
  ],
});

/**
 * Asks for the code that a device without a browser shows.
 *
 * @param wrong the code that was typed before, with which no device waits
 */
export function EnterCode({ wrong = '', enter }: { wrong?: string; enter: (code: string) => void }) {
  const code = useSignal(wrong);
  const letters = code.value.toUpperCase().replaceAll(/[^A-Z]/g, '');
  const problem = useSignal(wrong === '' ? undefined : NOT_WAITING);
  const submit = (event: Event) => {
    event.preventDefault();
    enter(letters);
  };
  return (
    <Page title="Let a client in">
      <Form problem={problem} class="panel stack" onSubmit={submit}>
        <p class="dim">
          A client or command line without a browser shows a code of eight letters. Type it as you see it on your own
          device.
        </p>
        <TextField label="Code" value={code} autocomplete="off" spellcheck={false} />
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" class="primary" disabled={letters.length !== LETTERS}>
            Continue
          </button>
        </div>
      </Form>
    </Page>
  );
}
