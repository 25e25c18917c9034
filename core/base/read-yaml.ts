import { invalidInput } from './errors.ts';
import { refusePollution } from './polluting-keys.ts';
import { type Yaml, YamlError } from './ports.ts';

/** The documents of a YAML text. @throws MeshError `invalid_input` with the line */
export function readYaml(yaml: Yaml, text: string): unknown[] {
  const documents = parsed(yaml, text);
  for (const document of documents) refusePollution(document);
  return documents;
}

function parsed(yaml: Yaml, text: string): unknown[] {
  try {
    return yaml.parse(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw invalidInput([{ pointer: '', detail: error.message }], `The text is no YAML that is read: ${error.message}`);
  }
}
