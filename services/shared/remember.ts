/**
 * Gives a way of asking that remembers each answer for a moment, for questions that are asked again and again and whose
 * answer seldom changes. Whoever asks while the same question is under way gets its answer, too. A failure is told to
 * those, and not remembered.
 *
 * Where an answer is in steady use nobody waits for it: whoever wants it in the second half of its moment has it asked for
 * again, and takes what is known.
 *
 * @param rememberedMs milliseconds: so short that nobody is misled where the answer has changed, or can no longer be had
 * @param ask must end by itself: until it does, nobody can ask the same again
 */
export function remembering<Question, Answer>(
    rememberedMs: number,
    ask: (question: Question) => Promise<Answer>,
): (question: Question) => Promise<Answer> {
    const known = new Map<Question, { answer: Answer; since: number }>();
    const asking = new Map<Question, Promise<Answer>>();
    const askFor = (question: Question): Promise<Answer> => {
        const underWay = asking.get(question);
        if (underWay) return underWay;
        const remember = (answer: Answer) => {
            known.set(question, { answer, since: performance.now() });
            return answer;
        };
        const asked = ask(question)
            .then(remember)
            .finally(() => asking.delete(question));
        asking.set(question, asked);
        return asked;
    };
    return async (question) => {
        const found = known.get(question);
        const ageMs = found ? performance.now() - found.since : Infinity;
        if (!found || ageMs >= rememberedMs) return askFor(question);
        // Where that fails, what is known holds for its moment; whoever asks after it is told.
        if (ageMs >= rememberedMs / 2) askFor(question).catch(() => undefined);
        return found.answer;
    };
}
