// A worker of Java RMI that speaks the kit's protocol: java RmiWorker NAME FOLDER, one JSON object a line. A handle is a stub, a value is
// a remote object, and it lives as long as its leases and local references do. Workers find each other by stubs in the folder.
import java.io.*;
import java.lang.ref.WeakReference;
import java.nio.file.*;
import java.rmi.*;
import java.rmi.server.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.regex.*;

public class RmiWorker {
    interface Cell extends Remote { Object get() throws RemoteException; }

    interface Root extends Remote {
        Cell make(String function, List<Object> args) throws RemoteException;
        Object run(String function, List<Object> args) throws RemoteException;
        void keep(String name, Cell cell) throws RemoteException;
    }

    public static void main(String[] words) throws Exception {
        new Worker(words[0], Path.of(words[1])).serve();
        System.exit(0);
    }

    static synchronized void print(String line) { System.out.println(line); System.out.flush(); }

    static void ok(Object id, Object value) { print("{\"id\":" + id + ",\"ok\":" + Json.write(value) + "}"); }

    static void error(Object id, String kind, Throwable error) {
        Object told = Map.of("kind", kind, "type", error.getClass().getSimpleName(), "message", "" + error.getMessage());
        print("{\"id\":" + id + ",\"error\":" + Json.write(told) + "}");
    }

    // -- a worker ----------------------------------------------------------------------------------------------------------------

    static class Value extends UnicastRemoteObject implements Cell {
        final CompletableFuture<Object> value = new CompletableFuture<>();
        Value() throws RemoteException { }
        public Object get() {
            try { return value.join(); } catch (CompletionException error) { throw (RuntimeException) error.getCause(); }
        }
    }

    static class Worker extends UnicastRemoteObject implements Root {
        final String name;
        final Path folder;
        final Map<String, Cell> desk = new ConcurrentHashMap<>();
        final Map<String, Root> roots = new ConcurrentHashMap<>();
        final List<WeakReference<Value>> owned = new CopyOnWriteArrayList<>();
        final Map<Object, Long> counts = new ConcurrentHashMap<>();

        Worker(String name, Path folder) throws Exception {
            this.name = name;
            this.folder = folder;
            try (ObjectOutputStream file = new ObjectOutputStream(Files.newOutputStream(folder.resolve(name + ".new")))) {
                file.writeObject(RemoteObject.toStub(this));
            }
            Files.move(folder.resolve(name + ".new"), folder.resolve(name));
        }

        void serve() throws Exception {
            BufferedReader requests = new BufferedReader(new InputStreamReader(System.in));
            for (String line; (line = requests.readLine()) != null; ) {
                Map<String, Object> request = Json.map(Json.read(line));
                new Thread(() -> answer(request, request.get("id"))).start();
            }
        }

        void answer(Map<String, Object> request, Object id) {
            try { ok(id, carryOut((String) request.get("verb"), request)); }
            catch (NoSuchElementException | NoSuchObjectException error) { error(id, "unknown", error); }
            catch (ServerException | ServerError error) { error(id, "error", error.getCause()); }
            catch (RemoteException error) { error(id, "dead", error); }
            catch (Exception error) { error(id, "error", error); }
        }

        Object carryOut(String verb, Map<String, Object> request) throws Exception {
            String key = (String) request.get("name"), function = (String) request.get("function");
            String to = (String) request.getOrDefault("to", request.get("owner"));
            List<Object> args = given(Json.list(request.get("args")));
            switch (verb) {
                case "start" -> { for (Object one : Json.list(request.get("workers"))) root((String) one); }
                case "collect" -> System.gc();
                case "create" -> desk.put(key, name.equals(to) ? make(function, args)
                    : (Cell) named(to, () -> root(to).make(function, args)));
                case "share" -> { Cell cell = held(key); named(to, () -> { root(to).keep(key, cell); return null; }); }
                case "drop" -> { held(key); desk.remove(key); }
                case "fetch" -> { Cell cell = held(key); return named(owner(cell), cell::get); }
                case "call" -> { return named(to, () -> root(to).run(function, args)); }
                case "probe" -> { return Map.of("owned", owned.stream().filter(one -> one.get() != null).count()); }
                default -> throw new IllegalStateException(verb);
            }
            return null;
        }

        Object named(String worker, Callable<Object> act) throws Exception { // an error of RMI does not say who has died
            try { return act.call(); }
            catch (ConnectException | UnmarshalException | ConnectIOException error) {
                throw new ConnectException("worker " + worker + " has died: " + error.getMessage());
            }
        }

        String owner(Cell cell) { // by the port that its stub leads to
            return roots.keySet().stream().filter(one -> port(roots.get(one)).equals(port(cell))).findFirst().orElse("here");
        }

        static String port(Remote stub) {
            Matcher found = Pattern.compile("127\\.0\\.0\\.1:(\\d+)").matcher("" + stub);
            return found.find() ? found.group(1) : "";
        }

        Root root(String worker) throws Exception {
            while (!Files.exists(folder.resolve(worker))) Thread.sleep(5);
            if (!roots.containsKey(worker))
                try (ObjectInputStream file = new ObjectInputStream(Files.newInputStream(folder.resolve(worker)))) {
                    roots.put(worker, (Root) file.readObject());
                }
            return roots.get(worker);
        }

        Cell held(Object key) {
            if (!desk.containsKey(key)) throw new NoSuchElementException(name + " holds no " + key);
            return desk.get(key);
        }

        List<Object> given(List<Object> args) {
            List<Object> given = new ArrayList<>();
            for (Object one : args) given.add(one instanceof Map ? held(Json.map(one).get("rref")) : one);
            return given;
        }

        public Cell make(String function, List<Object> args) throws RemoteException {
            Value made = new Value();
            CompletableFuture<Object> value = made.value;
            owned.add(new WeakReference<>(made));
            if (function == null) value.complete(args.get(0));
            else new Thread(() -> {
                try { value.complete(run(function, args)); } catch (Throwable error) { value.completeExceptionally(error); }
            }).start();
            return made;
        }

        public void keep(String key, Cell cell) { desk.put(key, cell); }

        static Object after(Object seconds, Object value) {
            try { Thread.sleep((long) (1000 * ((Number) seconds).doubleValue())); } catch (InterruptedException never) { }
            return value;
        }

        public Object run(String function, List<Object> args) throws RemoteException {
            Object first = args.isEmpty() ? null : args.get(0);
            switch (function) {
                case "echo": return first;
                case "slow": return after(first, args.get(1));
                case "fail": throw new IllegalArgumentException("" + first);
                case "value_of": return ((Cell) first).get();
                case "later": after(args.get(1), null); return ((Cell) first).get();
                case "hold": return after(args.get(1), true);
                case "count": return counts.merge(first, 1L, Long::sum);
                case "witness":
                    counts.merge(first, 1L, Long::sum);
                    List<Object> found = new ArrayList<>();
                    for (Object one : args.subList(1, args.size())) found.add(((Cell) one).get());
                    return found;
                default: throw new IllegalStateException("there is no function " + function);
            }
        }
    }

    // -- JSON, as far as the protocol needs it -----------------------------------------------------------------------------------

    static class Json {
        static final Pattern TOKEN = Pattern.compile("\\s*([\\[\\]{},:]|\"(?:[^\"\\\\]++|\\\\.)*+\"|[^\\s\\[\\]{},:\"]+)");

        @SuppressWarnings("unchecked") static Map<String, Object> map(Object one) {
            return one == null ? Map.of() : (Map<String, Object>) one;
        }

        @SuppressWarnings("unchecked") static List<Object> list(Object one) { return one == null ? List.of() : (List<Object>) one; }

        static Object read(String text) {
            Deque<String> tokens = new ArrayDeque<>();
            for (Matcher found = TOKEN.matcher(text); found.find(); ) tokens.add(found.group(1));
            return value(tokens);
        }

        static Object value(Deque<String> tokens) {
            String token = tokens.poll();
            switch (token.charAt(0)) {
                case '{':
                    Map<String, Object> map = new LinkedHashMap<>();
                    while (!tokens.peek().equals("}")) {
                        String key = (String) value(tokens);
                        tokens.poll();
                        map.put(key, value(tokens));
                        if (tokens.peek().equals(",")) tokens.poll();
                    }
                    tokens.poll();
                    return map;
                case '[':
                    List<Object> list = new ArrayList<>();
                    while (!tokens.peek().equals("]")) { list.add(value(tokens)); if (tokens.peek().equals(",")) tokens.poll(); }
                    tokens.poll();
                    return list;
                case '"': return token.substring(1, token.length() - 1).translateEscapes();
                case 't': case 'f': return token.equals("true");
                case 'n': return null;
                default: return token.matches("-?\\d+") ? (Object) Long.valueOf(token) : (Object) Double.valueOf(token);
            }
        }

        static String write(Object one) {
            if (one instanceof Map<?, ?> map) return "{" + String.join(",", map.entrySet().stream()
                .map(entry -> write(entry.getKey()) + ":" + write(entry.getValue())).toList()) + "}";
            if (one instanceof List<?> list) return "[" + String.join(",", list.stream().map(Json::write).toList()) + "]";
            if (!(one instanceof String text)) return "" + one;
            return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\r", "").replace("\t", " ") + "\"";
        }
    }
}
