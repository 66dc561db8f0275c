import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** What a worker is told, and what it answers. */
export interface Ask<Q> {
  readonly index: number;
  readonly question: Q;
}

/**
 * Has worker processes answer questions, each one at a time. With one worker everything happens in this process.
 */
export async function answerAll<Q, A>(
  questions: readonly Q[],
  workers: number,
  workerArguments: readonly string[],
  answer: (question: Q) => Promise<A>,
  onAnswer: (answer: A, question: Q) => void,
  isEnough: () => boolean = () => false,
): Promise<void> {
  const queue = questions.map((question, index) => ({ index, question }));
  if (workers <= 1) {
    for (const { question } of queue) {
      if (isEnough()) return;
      onAnswer(await answer(question), question);
    }
    return;
  }
  const children: ChildProcess[] = [];
  const endAll = (): void => {
    for (const child of children) child.kill('SIGKILL');
  };
  process.once('exit', endAll);
  const [, script = ''] = process.argv;
  try {
    await Promise.all(
      Array.from({ length: Math.min(workers, queue.length) }, async () => {
        const child = fork(script, [...workerArguments, '--worker']);
        children.push(child);
        const isGone = gone(child);
        isGone.catch(() => undefined);
        for (let next = queue.shift(); next !== undefined && !isEnough(); next = queue.shift()) {
          child.send(next);
          const answered = new Promise<unknown>((resolve) => child.once('message', resolve));
          onAnswer((await Promise.race([answered, isGone])) as A, next.question);
        }
        child.disconnect();
      }),
    );
  } finally {
    endAll();
    process.off('exit', endAll);
  }
}

async function gone(child: ChildProcess): Promise<never> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  throw new Error(`a worker ended: ${signal ?? `exit code ${code ?? '?'}`}`);
}

/** The other side of {@link answerAll}. */
export function serveQuestions<Q, A>(answer: (question: Q) => Promise<A>): void {
  process.on('message', (message: Ask<Q>) => {
    void answer(message.question).then(
      (result) => process.send?.(result),
      (error: unknown) => {
        process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
        process.exit(1);
      },
    );
  });
}
