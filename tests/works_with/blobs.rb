# azure-storage-blob for Ruby: every kind of blob, metadata, leases, snapshots, a copy, listings, a
# SAS; through kills.
require "azure/storage/blob"
require "securerandom"
require "tempfile" # which the gem uses without asking for it

KILLS = 2
BLOBS = 240
TRIES = 100
# It refuses a protocol beside endpoints that name theirs.
CONNECTION = ENV.fetch("AZURE_STORAGE_CONNECTION_STRING").sub(/DefaultEndpointsProtocol=\w+;/, "")
BOX = "ruby#{SecureRandom.hex(6)}"

def new_client
  Azure::Storage::Blob::BlobService.create_from_connection_string(CONNECTION)
end

def check(what, found)
  raise "#{what}: #{found.inspect}" unless found == what
end

def refused(status, code)
  yield
rescue Azure::Core::Http::HTTPError => error
  check([status, code], [error.status_code, error.type])
else
  raise "it is not refused: #{status} #{code}"
end

def containers(client)
  client.create_container(BOX, metadata: { "color" => "blue" })
  refused(409, "ContainerAlreadyExists") { client.create_container(BOX) }
  check([BOX], client.list_containers(prefix: BOX, metadata: true).map(&:name))
  check("blue", client.get_container_metadata(BOX).metadata["color"])
  identifier = Azure::Storage::Common::Service::SignedIdentifier.new
  identifier.id = "one"
  identifier.access_policy.start = "2020-01-01T00:00:00Z"
  identifier.access_policy.expiry = "2099-01-01T00:00:00Z"
  identifier.access_policy.permission = "r"
  client.set_container_acl(BOX, "", signed_identifiers: [identifier])
  check(["r"], client.get_container_acl(BOX)[1].map { |one| one.access_policy.permission })
end

def block_blobs(client)
  name = "a/ä b+c%25.txt"
  client.create_block_blob(BOX, name, "täxt", content_type: "text/plain; charset=utf-8",
                                              metadata: { "color" => "blue" })
  blob, content = client.get_blob(BOX, name)
  check("täxt", content)
  check("blue", blob.metadata["color"])
  check("xt".b, client.get_blob(BOX, name, start_range: 3, end_range: 4)[1].b)
  large = Random.new(1).bytes(9_000_000)
  ids = Array.new(3) do |i|
    client.put_blob_block(BOX, "large", format("%05d", i), large.byteslice(i * 3_000_000, 3_000_000))
    [format("%05d", i), :uncommitted]
  end
  client.commit_blob_blocks(BOX, "large", ids)
  check(large, client.get_blob(BOX, "large")[1])
  check(3, client.list_blob_blocks(BOX, "large")[:committed].size)
  client.set_blob_metadata(BOX, name, { "size" => "small" })
  check({ "size" => "small" }, client.get_blob_metadata(BOX, name).metadata)
  client.set_blob_properties(BOX, name, content_type: "x/y")
  check("x/y", client.get_blob_properties(BOX, name).properties[:content_type])
  refused(404, "BlobNotFound") { client.get_blob(BOX, "missing") }
end

def other_blobs(client)
  client.create_append_blob(BOX, "log")
  client.append_blob_block(BOX, "log", "one")
  client.append_blob_block(BOX, "log", "two")
  check("onetwo", client.get_blob(BOX, "log")[1])
  client.create_page_blob(BOX, "pages", 4096)
  client.put_blob_pages(BOX, "pages", 512, 1023, "1" * 512)
  check([[512, 1023]], client.list_page_blob_ranges(BOX, "pages"))
  client.resize_page_blob(BOX, "pages", 1024)
  client.clear_blob_pages(BOX, "pages", 512, 1023)
  check([], client.list_page_blob_ranges(BOX, "pages"))
end

def leases_and_copies(client)
  lease = client.acquire_blob_lease(BOX, "log", duration: 15)
  refused(412, "LeaseIdMissing") { client.delete_blob(BOX, "log") }
  client.renew_blob_lease(BOX, "log", lease)
  client.release_blob_lease(BOX, "log", lease)
  snapshot = client.create_blob_snapshot(BOX, "log")
  check("onetwo", client.get_blob(BOX, "log", snapshot: snapshot)[1])
  client.delete_blob(BOX, "log", delete_snapshots: :only)
  refused(404, "BlobNotFound") { client.get_blob(BOX, "log", snapshot: snapshot) }
  client.delete_blob(BOX, "log")
  check("success", client.copy_blob(BOX, "copy", BOX, "a/ä b+c%25.txt")[1])
  listed = client.list_blobs(BOX, delimiter: "/").map { |one| one.is_a?(String) ? one : one.name }
  check(%w[a/ copy large pages], listed.sort)
  check(["copy"], client.list_blobs(BOX, prefix: "c", metadata: true).map(&:name))
end

def sas(client)
  signer = Azure::Storage::Common::Core::Auth::SharedAccessSignature.new(
    CONNECTION[/AccountName=([^;]*)/, 1], CONNECTION[/AccountKey=([^;]*)/, 1]
  )
  token = signer.generate_service_sas_token("#{BOX}/copy", service: "b", resource: "b", permissions: "r",
                                                           expiry: "2099-01-01T00:00:00Z")
  check("täxt".b, Net::HTTP.get(URI("#{client.generate_uri("#{BOX}/copy")}?#{token}")).b)
end

# Each blob that was acknowledged is there, as it was written, and listed.
def through_kills
  numbers = Queue.new
  BLOBS.times { |number| numbers << number }
  done = Queue.new
  writers = Array.new(4) { Thread.new { write_all(numbers, done) } }
  BLOBS.times do |count|
    done.pop
    puts "kill" if (count % (BLOBS / (KILLS + 1))).zero? && count.positive? && count < BLOBS - 1
    $stdout.flush
  end
  writers.each(&:join)
  client = new_client
  listed = client.list_blobs(BOX, prefix: "n/").map(&:name)
  check(Array.new(BLOBS) { |number| format("n/%04d", number) }, listed)
  listed.each { |name| check(name, client.get_blob(BOX, name)[1]) }
end

def write_all(numbers, done)
  Thread.current.report_on_exception = true
  Thread.current.abort_on_exception = true
  client = new_client
  until numbers.empty?
    name = format("n/%04d", numbers.pop(true))
    tries = 0
    begin
      client.create_block_blob(BOX, name, name)
    rescue Faraday::Error, SystemCallError, EOFError # the server is away
      raise if (tries += 1) > TRIES

      sleep 0.1
      retry
    end
    done << name
  end
rescue ThreadError
  nil # another writer took the last
end

client = new_client
containers(client)
block_blobs(client)
other_blobs(client)
leases_and_copies(client)
sas(client)
through_kills
client.delete_container(BOX)
